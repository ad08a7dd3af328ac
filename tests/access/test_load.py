"""access.toml: what it says, and each mistake with its line."""

from pathlib import Path

import pytest

from sayso.access import Console, OAuth, Settings, load_access, read_access
from sayso.access.keyset import ALGORITHMS
from sayso.access.settings import Introspection
from sayso.connect.fetch import ClientAuth
from sayso.errors import AccessError, ConfigError
from sayso.keys import Reference

WHOLE = """
api_keys = true

[oauth]
issuer = "https://login.example.com/realms/one"
audience = "api://sayso"
scopes = ["mcp"]
roles = "realm_access.roles"
leeway = "1m"

[oauth.introspection]
client_id = "sayso"
client_secret = "file:secret"
client_auth = "client_secret_post"
url = "https://login.example.com/introspect"
remember = "2m"

[console]
issuer = "https://login.example.com/realms/one"
client_id = "sayso-console"
client_secret = "file:secret"
client_auth = "client_secret_post"
scopes = ["groups"]
roles = "groups"
viewer = ["*"]
approver = ["staff", "finance"]
admin = ["platform"]
people = ["amy", "bob"]
session = "8h"
algorithms = ["ES256"]
"""


def test_a_whole_file_is_read(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("hunter2\n")
    path = tmp_path / "access.toml"
    path.write_text(WHOLE)
    auth = ClientAuth("sayso", Reference("file", str(tmp_path / "secret")), is_in_body=True)
    assert read_access(str(path)) == Settings(
        OAuth(
            issuer="https://login.example.com/realms/one",
            audience="api://sayso",
            scopes=("mcp",),
            roles="realm_access.roles",
            leeway=60.0,
            introspection=Introspection(auth, "https://login.example.com/introspect", 120.0),
        ),
        has_api_keys=True,
        console=Console(
            issuer="https://login.example.com/realms/one",
            client_id="sayso-console",
            roles={
                "viewer": frozenset({"*"}),
                "approver": frozenset({"staff", "finance"}),
                "admin": frozenset({"platform"}),
            },
            secret=auth.secret,
            is_in_body=True,
            scopes=("groups",),
            claim="groups",
            people=frozenset({"amy", "bob"}),
            seconds=28_800.0,
            algorithms=("ES256",),
        ),
    )


def test_the_least_that_lets_somebody_in_is_one_line() -> None:
    found = load_access('oauth.issuer = "https://login.example.com"')
    assert found == Settings(OAuth("https://login.example.com"))
    assert found.oauth is not None
    assert found.oauth.algorithms == tuple(ALGORITHMS)
    assert not [one for one in ALGORITHMS if one.startswith("HS") or one == "none"]


ENTERED = 'api_keys = true\n[console]\nissuer = "https://l.example"\nclient_id = "sayso"\n'
ASKED = '[oauth]\nissuer = "https://l.example"\n[oauth.introspection]\nclient_id = "sayso"\n'
MISTAKES = [
    ("", 1, "no one could call"),
    ("api_keys = false", 1, "no one could call"),
    ("api_key = true", 1, "unknown key “api_key”"),
    ("api_keys = 1", 1, "must be true or false"),
    ('[oauth]\nissuer = "https://l.example"\nscopes = []', 3, "empty"),
    ('[oauth]\nissuer = "https://l.example"\nscopes = ["a b"]', 3, "is not a scope"),
    ('[oauth]\nissuer = "https://l.example"\nscopes = ["\\""]', 3, "is not a scope"),
    ("[oauth]", 1, "the key “issuer” is missing"),
    ('[oauth]\nissuer = "login.example.com"', 2, "not http:// or https://"),
    ('[oauth]\nissuer = "http://login.example.com"', 2, "must use https"),
    ('[oauth]\nissuer = "https://login.example.com?x=1"', 2, "must not have a query"),
    ('[oauth]\nissuer = "https://l.example"\njwks_url = "http://l.example/k"', 3, "must use https"),
    ('[oauth]\nissuer = "https://l.example"\nalgorithms = ["HS256"]', 3, "“HS256” is not one of"),
    ('[oauth]\nissuer = "https://l.example"\nalgorithms = ["none"]', 3, "“none” is not one of"),
    ('[oauth]\nissuer = "https://l.example"\nleeway = "6m"', 3, "at most 5m"),
    ('[oauth]\nissuer = "https://l.example"\nleeway = "soon"', 3, "not a duration"),
    ('[oauth]\nissuer = "https://l.example"\ntyp = "id"', 3, "“id” is not one of"),
    (f'{ASKED}client_secret = "hunter2"', 5, "must be a reference to the secret"),
    (f'{ASKED}client_secret = "env:SAYSO_NOT_SET"', 5, "SAYSO_NOT_SET: the environment variable"),
    (f'{ASKED}client_secret = "file:nowhere"', 5, "cannot read the secret"),
    (f'{ASKED}client_secret = "env:HOME"\nremember = "1h"', 6, "at most 5m"),
    (f'{ASKED}client_secret = "env:HOME"\nurl = "ftp://x"', 6, "not http:// or https://"),
    (ENTERED, 2, "no one could log in"),
    (f'{ENTERED}admin = ["*"]', 5, "everyone with an account"),
    (f"{ENTERED}admin = []", 5, "empty"),
    (f'{ENTERED}admin = ["a"]\nsession = "13h"', 6, "at most 12h"),
    (f'{ENTERED}admin = ["a"]\nclient_secret = "hunter2"', 6, "must be a reference to the secret"),
    (f'{ENTERED}admin = ["a"]\nalgorithms = ["none"]', 6, "“none” is not one of"),
    (ENTERED.replace("https:", "http:") + 'admin = ["a"]', 3, "must use https"),
    (ENTERED.replace(".example", ".example?x") + 'admin = ["a"]', 3, "must not have a query"),
    ('[console]\nissuer = "https://l.example"\nclient_id = "x"\nadmin = ["a"]', 1, "no one could"),
    (
        ENTERED.replace("api_keys = true", 'oauth.issuer = "https://k.example"') + 'admin = ["a"]',
        3,
        "the issuer differs",
    ),
    (f"{ASKED}", 3, "the key “client_secret” is missing"),
    (
        ASKED.replace("[oauth.", 'typ = "JWT"\n[oauth.') + 'client_secret = "env:HOME"',
        3,
        "“typ” has no effect, because “introspection” replaces signatures",
    ),
]


@pytest.mark.parametrize(("text", "line", "told"), MISTAKES)
def test_a_mistake_is_told_with_its_line(text: str, line: int, told: str) -> None:
    with pytest.raises(AccessError) as caught:
        load_access(text, "a.toml")
    (error,) = caught.value.errors
    assert error.where == f"a.toml:{line}"
    assert told in error.what
    assert "hunter2" not in str(caught.value)


def test_all_mistakes_are_told_at_once() -> None:
    text = 'api_keys = 7\n[oauth]\nissuer = "x"\nleeway = "9m"\nroles = ""\n'
    with pytest.raises(AccessError) as caught:
        load_access(text, "a.toml")
    assert [one.where for one in caught.value.errors] == [f"a.toml:{n}" for n in (1, 3, 4, 5)]
    assert "4 mistakes in access.toml:" in str(caught.value)
    assert len(caught.value.to_dict()["error"]["errors"]) == 4


@pytest.mark.parametrize("text", ["[oauth", "a = " + "[" * 2000 + "]" * 2000])
def test_what_is_no_toml_is_told(text: str) -> None:
    with pytest.raises(AccessError) as caught:
        load_access(text, "a.toml")
    assert str(caught.value).startswith("a.toml")


def test_a_file_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="the file cannot be read"):
        read_access(str(tmp_path / "none.toml"))
    bad = tmp_path / "bad.toml"
    bad.write_bytes(b"\xff")
    with pytest.raises(ConfigError, match=r"bad.toml:1:1: the byte 0xff is not UTF-8"):
        read_access(str(bad))
