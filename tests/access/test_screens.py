"""The `[screens]` of an access.toml: exact origins, named people, and tokens of their own."""

from typing import Any

import pytest
from tests.access.authority import GATEWAY, Authority
from tests.access.conftest import Opened, request_info

from sayso.access import RefusedError, Screens, load_access
from sayso.access.resource import Resource
from sayso.connect.credentials import Wallet
from sayso.errors import AccessError

pytestmark = pytest.mark.anyio

KEYS = "api_keys = true\n"
NARROW = '[oauth]\nissuer = "https://login.example"\naudience = "sayso"\n'


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
        client_id = "sayso"
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
        ("*", "is not an origin"),
        ("null", "is not an origin"),
        ("https://*.chat.example", "is not an origin"),
        ("https://chat.example/", "is not an origin"),
        ("https://Chat.example", "is not an origin"),
        ("chat.example", "is not an origin"),
        ("https://amy@chat.example", "is not an origin"),
        ("https://chat.example:443", "contains the default port"),
        ("http://localhost:80", "contains the default port"),
        ("http://chat.example", "must use https"),
    ],
)
def test_what_is_not_the_origin_of_one_page_is_a_mistake(origin: str, what: str) -> None:
    with pytest.raises(AccessError, match=what):
        load_access(f'{KEYS}[screens]\norigins = ["{origin}"]\nviewer = ["staff"]')


@pytest.mark.parametrize(
    ("text", "what"),
    [
        (f"{KEYS}[screens]", "no one could see anything"),
        (f'{KEYS}[screens]\nviewer = ["*"]', "would allow every agent"),
        (
            f"{NARROW}[screens]\napprover = ['finance']",
            "tokens of agents would be valid for screens too",
        ),
        ('[screens]\napprover = ["finance"]', "no one could call"),
    ],
)
def test_screens_that_would_let_in_nobody_or_everybody_are_a_mistake(text: str, what: str) -> None:
    with pytest.raises(AccessError, match=what):
        load_access(text)


async def test_a_token_for_calls_opens_no_screen_and_one_for_screens_makes_no_call(
    authority: Authority, opened: Opened
) -> None:
    wallet = Wallet()
    tokens = {"/mcp": authority.sign(), "/api/v1/me": authority.sign(aud=f"{GATEWAY}/api")}
    async with opened(wallet=wallet) as access:
        (call, agents), (screen, own) = tokens.items()
        caller = await access.identify(request_info(agents, path=call))
        assert await access.identify(request_info(own, path=screen)) == caller
        for path, token in ((call, own), (screen, agents)):
            with pytest.raises(RefusedError, match="for another resource"):
                await access.identify(request_info(token, path=path))
        assert (access.metadata("/api") or {})["resource"] == f"{GATEWAY}/api"
    assert wallet.get(caller) == tokens["/mcp"]


@pytest.mark.parametrize("named", ["chat", None])
async def test_who_acts_for_a_person_may_call_and_not_answer_for_them(
    authority: Authority, opened: Opened, named: str | None
) -> None:
    more: dict[str, Any] = {"act": {"sub": "agent", "act": {"sub": "desk"}}, "client_id": named}
    async with opened() as access:
        caller = await access.identify(request_info(authority.sign(**more)))
        assert (caller.subject, caller.client) == ("amy", named or "agent")
        token = authority.sign(aud=f"{GATEWAY}/api", **more)
        with pytest.raises(RefusedError, match="acts for another person"):
            await access.identify(request_info(token, path="/api/v1/approvals/1/answer"))
        own = authority.sign(aud=f"{GATEWAY}/api", act=None)
        assert (await access.identify(request_info(own, path="/api/v1/me"))).subject == "amy"


def test_the_api_is_a_resource_of_its_own() -> None:
    resource = Resource("https://sayso.example", "https://login.example")
    for path in ("/api", "/api/v1/approvals"):
        assert resource.audiences(path) == {"https://sayso.example/api"}
    assert "https://sayso.example/api" not in resource.audiences("/mcp")
    assert resource.audiences("/apis") == resource.audiences("/mcp")
