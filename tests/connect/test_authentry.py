"""`sayso.auth` in a client's configuration: read with the place of each mistake."""

import json
from pathlib import Path
from typing import Any

import pytest

from sayso.connect import SavedTarget, origin_of, parse_target
from sayso.connect.kinds import AuthKind, Contract, UpstreamAuth
from sayso.errors import ConfigError
from sayso.keys import Reference

AUTH: dict[str, Any] = {
    "type": "token_exchange",
    "token_url": "https://login.example.com/token",
    "client_id": "sayso",
    "client_secret": "file:secret",
}


def entry(tmp_path: Path, ours: Any, **more: Any) -> Any:
    server = {"url": "https://crm.example.com/mcp", "sayso": ours, **more}
    path = tmp_path / "mcp.json"
    path.write_text(json.dumps({"mcpServers": {"crm": server}}))
    (target,) = parse_target([str(path)])
    assert not isinstance(target, SavedTarget)
    return target


def test_an_entry_says_how_to_prove_oneself(tmp_path: Path) -> None:
    more = {"client_auth": "client_secret_post", "scope": "a b", "audience": "crm"}
    target = entry(tmp_path, {"auth": {**AUTH, **more, "resource": "https://crm.example.com"}})
    assert target.auth == UpstreamAuth(
        AuthKind.TOKEN_EXCHANGE,
        "https://login.example.com/token",
        "sayso",
        Reference("file", str(tmp_path / "secret")),
        is_secret_in_body=True,
        scope="a b",
        resource="https://crm.example.com",
        audience="crm",
    )
    assert "secret" not in repr(target)


@pytest.mark.parametrize("ours", [None, {}, {"auth": None}])
def test_without_it_nothing_is_sent(tmp_path: Path, ours: Any) -> None:
    assert entry(tmp_path, ours).auth is None


def test_a_server_with_other_credentials_is_another_server(tmp_path: Path) -> None:
    one = entry(tmp_path, {"auth": AUTH})
    other = entry(tmp_path, {"auth": {**AUTH, "client_id": "other"}})
    without = entry(tmp_path, {})
    assert len({origin_of(target) for target in (one, other, without)}) == 3


@pytest.mark.parametrize("how", [{}, {"url": None, "command": "x"}])
@pytest.mark.parametrize(
    ("ours", "is_shared"),
    [(None, False), ({}, False), ({"shared": None}, False), ({"shared": True}, True)],
)
def test_one_word_makes_that_all_principals_share_a_server(
    tmp_path: Path, how: dict[str, Any], ours: Any, *, is_shared: bool
) -> None:
    assert entry(tmp_path, ours, **how).is_shared is is_shared


def test_a_contract_says_what_is_the_servers_own(tmp_path: Path) -> None:
    command = {"url": None, "command": "x"}
    assert entry(tmp_path, {"contract": False}, **command).contract is None
    assert entry(tmp_path, {"contract": True}, **command).contract == Contract()
    target = entry(tmp_path, {"contract": True, "own": ["/a", "b", "~/c"]}, **command)
    assert target.contract == Contract(("/a", str(tmp_path / "b"), str(Path.home() / "c")))
    assert entry(tmp_path, {"contract": False}).url == "https://crm.example.com/mcp"


WRONG: list[tuple[Any, dict[str, Any], str]] = [
    (7, {}, "crm.sayso: must be an object, not a number"),
    ({"oauth": {}}, {}, "crm.sayso.oauth: unknown key"),
    ({"auht": {}}, {}, "Did you mean “auth”?"),
    ({"auth": []}, {}, "crm.sayso.auth: must be an object, not an array"),
    ({"auth": {}}, {}, "the key “type” is missing"),
    ({"auth": {**AUTH, "scopes": "a"}}, {}, "Did you mean “scope”?"),
    ({"auth": {**AUTH, "type": "password"}}, {}, "“password” is not one of client_credentials"),
    ({"auth": {**AUTH, "client_id": 7}}, {}, "crm.sayso.auth.client_id: must be a string"),
    ({"auth": {**AUTH, "scope": "a\nb"}}, {}, "must be one line of text"),
    ({"auth": {**AUTH, "client_auth": "jwt"}}, {}, "“jwt” is not one of client_secret_basic"),
    ({"auth": {**AUTH, "token_url": "login"}}, {}, "not http:// or https://"),
    ({"auth": {**AUTH, "token_url": "http://login.example.com"}}, {}, "the URL is not https"),
    ({"auth": {**AUTH, "client_secret": "hunter2"}}, {}, "must refer to the place of the secret"),
    (
        {"auth": AUTH},
        {"headers": {"authorization": "Bearer x"}},
        "has both “sayso.auth” and the header “Authorization”",
    ),
    ({"shared": True, "auth": AUTH}, {}, "each caller has its own token"),
    ({"contract": 1}, {}, "crm.sayso.contract: must be true or false, not a number"),
    ({"contract": True}, {}, "crm.sayso.contract: is only for servers with a “command”"),
    ({"own": ["a"]}, {}, "crm.sayso.own: requires “contract”"),
    (
        {"contract": True, "own": "a"},
        {"url": None, "command": "x"},
        "crm.sayso.own: must be an array of paths, not a string",
    ),
    (
        {"contract": True, "own": ["a", " "]},
        {"url": None, "command": "x"},
        "crm.sayso.own[1]: must be a path",
    ),
    ({"shared": 1}, {}, "crm.sayso.shared: must be true or false, not a number"),
    ({"shared": "yes"}, {"url": None, "command": "x"}, "must be true or false, not a string"),
    ({"auth": AUTH}, {"url": None, "command": "x"}, "is only for servers with a “url”"),
]


@pytest.mark.parametrize(("ours", "more", "told"), WRONG)
def test_a_mistake_is_told_with_its_place(
    tmp_path: Path, ours: Any, more: dict[str, Any], told: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        entry(tmp_path, ours, **more)
    assert told in str(caught.value)
    assert str(caught.value.where).startswith(f"{tmp_path / 'mcp.json'}:1:")
    assert "hunter2" not in str(caught.value)
