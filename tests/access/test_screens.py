"""The `[screens]` of an access.toml: exact origins, named people, and tokens of their own."""

import pytest

from avow.access import Screens, load_access
from avow.access.resource import Resource
from avow.errors import AccessError

KEYS = "api_keys = true\n"


def test_screens_name_their_pages_and_the_roles_that_may_look_and_answer() -> None:
    text = """
        api_keys = true
        [screens]
        origins = ["https://chat.example", "http://127.0.0.1:3000", "http://[::1]:3000"]
        viewer = ["staff"]
        approver = ["finance"]
        """
    assert load_access(text).screens == Screens(
        frozenset({"https://chat.example", "http://127.0.0.1:3000", "http://[::1]:3000"}),
        {"viewer": frozenset({"staff"}), "approver": frozenset({"finance"})},
    )
    assert load_access(KEYS).screens is None


def test_who_may_not_log_in_to_the_console_is_nobody_at_a_screen() -> None:
    text = """
        api_keys = true
        [console]
        issuer = "https://login.example"
        client_id = "avow"
        admin = ["platform"]
        people = ["amy"]
        [screens]
        approver = ["platform"]
        """
    screens = load_access(text).screens
    assert screens is not None
    assert screens.people == {"amy"}


@pytest.mark.parametrize(
    ("origin", "what"),
    [
        ("*", "is no origin"),
        ("null", "is no origin"),
        ("https://*.chat.example", "is no origin"),
        ("https://chat.example/", "is no origin"),
        ("https://Chat.example", "is no origin"),
        ("chat.example", "is no origin"),
        ("https://amy@chat.example", "is no origin"),
        ("https://chat.example:443", "names the usual port"),
        ("http://localhost:80", "names the usual port"),
        ("http://chat.example", "is not https"),
    ],
)
def test_what_is_not_the_origin_of_one_page_is_a_mistake(origin: str, what: str) -> None:
    with pytest.raises(AccessError, match=what):
        load_access(f'{KEYS}[screens]\norigins = ["{origin}"]\nviewer = ["staff"]')


@pytest.mark.parametrize(
    ("text", "what"),
    [
        (f"{KEYS}[screens]", "nobody could see anything"),
        (f'{KEYS}[screens]\nviewer = ["*"]', "would let in every agent"),
        (
            '[oauth]\nissuer = "https://login.example"\naudience = "avow"\n'
            '[screens]\napprover = ["finance"]',
            "tokens for one audience are good for agents and for screens alike",
        ),
        ('[screens]\napprover = ["finance"]', "nobody could call"),
    ],
)
def test_screens_that_would_let_in_nobody_or_everybody_are_a_mistake(text: str, what: str) -> None:
    with pytest.raises(AccessError, match=what):
        load_access(text)


def test_a_token_for_calls_opens_no_screen_and_one_for_screens_makes_no_call() -> None:
    resource = Resource("https://avow.example", "https://login.example")
    for path in ("/api", "/api/v1/approvals"):
        assert resource.audiences(path) == {"https://avow.example/api"}
        assert resource.metadata(path)["resource"] == "https://avow.example/api"
    assert "https://avow.example/api" not in resource.audiences("/mcp")
    assert resource.audiences("/apis") == resource.audiences("/mcp")
