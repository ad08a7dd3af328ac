"""Tokens that their issuer is asked about."""

import time
from typing import Any

import anyio
import pytest
from starlette.responses import JSONResponse, Response
from tests.access.authority import CLIENT, SECRET, Authority
from tests.access.conftest import Opened, request_info

from sayso.access import Access, RefusedError
from sayso.policy import Principal

pytestmark = pytest.mark.anyio

TEXT = """
[oauth]
issuer = "{issuer}"
[oauth.introspection]
client_id = "sayso"
client_secret = "env:SAYSO_TEST_SECRET"
remember = "2m"
"""
AMY = Principal(
    "amy", client="chat", scopes=frozenset({"crm.read", "crm.write"}), roles=frozenset({"staff"})
)


@pytest.fixture(autouse=True)
def secret(monkeypatch: pytest.MonkeyPatch) -> None:
    assert CLIENT == "sayso"
    monkeypatch.setenv("SAYSO_TEST_SECRET", SECRET)


async def refusal(access: Access, token: str) -> RefusedError:
    with pytest.raises(RefusedError) as caught:
        await access.identify(request_info(token))
    return caught.value


@pytest.mark.parametrize("way", ["client_secret_basic", "client_secret_post"])
async def test_the_issuer_says_whose_token_it_is(
    authority: Authority, opened: Opened, way: str
) -> None:
    async with opened(f'{TEXT}client_auth = "{way}"\n') as access:
        assert await access.identify(request_info(authority.introspectable("opaque"))) == AMY


async def test_where_to_ask_may_be_said(authority: Authority, opened: Opened) -> None:
    async with opened(f'{TEXT}url = "{{issuer}}/introspect"\n') as access:
        assert await access.identify(request_info(authority.introspectable("opaque"))) == AMY
    assert set(authority.hits) == {"/introspect"}


async def test_an_answer_is_asked_for_once_and_remembered(
    authority: Authority, opened: Opened
) -> None:
    authority.introspectable("opaque")
    async with opened(TEXT) as access:
        async with anyio.create_task_group() as group:
            for _ in range(64):
                group.start_soon(access.identify, request_info("opaque"))
        for _ in range(10):
            assert (await refusal(access, "made-up")).status == 401
    assert authority.hits["/introspect"] == 2


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "not active": ({"active": False}, "not valid here"),
    "active as a text": ({"active": "true"}, "not valid here"),
    "active as a number": ({"active": 1}, "not valid here"),
    "another audience": ({"aud": "https://other.example"}, "another resource"),
    "no audience": ({"aud": None}, "another resource"),
    "another issuer": ({"iss": "https://evil.example"}, "another issuer"),
    "expired": ({"exp": 1}, "has expired"),
    "an end that no clock has": ({"exp": 10**400}, "an invalid time"),
    "a beginning that no clock has": ({"nbf": -(10**400)}, "an invalid time"),
    "a name that a blank tells apart": ({"sub": "amy "}, "hidden characters"),
    "a name with two blanks": ({"sub": "amy  b"}, "hidden characters"),
    "a name of a blank": ({"sub": "\u3164"}, "hidden characters"),
    "a name with another blank": ({"sub": "amy\u00a0b"}, "hidden characters"),
    "nobody": ({"sub": None}, "has no subject"),
    "a refresh token": ({"token_type": "refresh_token"}, "not an access token"),
    "a refresh token of Keycloak": ({"typ": "Refresh"}, "not an access token"),
    "an offline token": ({"typ": "Offline"}, "not an access token"),
    "a refresh token of Hydra": ({"token_use": "refresh_token"}, "not an access token"),
    "an ID token of Cognito": ({"token_use": "id"}, "not an access token"),
    "an ID token": (
        {"token_type": "urn:ietf:params:oauth:token-type:id_token"},
        "not an access token",
    ),
    "an ID token by its claims": ({"at_hash": "x"}, "not an access token"),
    "an ID token by its state": ({"s_hash": "x"}, "not an access token"),
    "an ID token by its login": ({"nonce": "x", "scope": None}, "not an access token"),
    "an ID token by its login, with empty scopes": (
        {"nonce": "x", "scope": ""},
        "not an access token",
    ),
    "an invalid actor": ({"act": "agent"}, "an invalid actor"),
    "an actor whose name is none": ({"act": {"sub": 7}}, "an invalid name"),
    "a type that is no text": ({"token_type": ["Bearer"]}, "not an access token"),
    "a bound token": ({"token_type": "DPoP"}, "not an access token"),
    "the console's name": ({"sub": "console"}, "reserved name"),
    "a name that reads as the console's": ({"sub": "C\u043ensole "}, "reserved name"),
    "the name of links": ({"sub": "LINK"}, "reserved name"),
    "the terminal's name in wide letters": ({"sub": "\uff54erminal"}, "reserved name"),
    "a client's name": ({"sub": "client:amy"}, "reserved name"),
}


@pytest.mark.parametrize("name", sorted(WRONG))
async def test_what_the_issuer_does_not_vouch_for_is_refused(
    authority: Authority, opened: Opened, name: str
) -> None:
    changes, told = WRONG[name]
    authority.introspectable("opaque", **changes)
    async with opened(TEXT) as access:
        refused = await refusal(access, "opaque")
    assert refused.status == 401
    assert told in refused.sentence


@pytest.mark.parametrize(
    "kind",
    [
        *({"token_type": "Bearer"}, {"token_use": "access"}, {"typ": "at+jwt"}, {"typ": "Bearer"}),
        *({"nonce": "x"}, {"act": None}, {"may_act": {"sub": "agent"}}),
    ],
)
async def test_an_access_token_is_taken_by_any_name_of_its_kind(
    authority: Authority, opened: Opened, kind: dict[str, Any]
) -> None:
    authority.introspectable("opaque", **kind)
    async with opened(TEXT) as access:
        assert (await access.identify(request_info("opaque"))).subject == "amy"


async def test_the_issuer_need_not_name_itself_or_an_end(
    authority: Authority, opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    authority.introspectable("opaque", iss=None, exp=None)
    async with opened(TEXT) as access:
        assert await access.identify(request_info("opaque")) == AMY
        later = time.time() + 86_400
        monkeypatch.setattr(access, "now", lambda: later)
        assert await access.identify(request_info("opaque")) == AMY


async def test_an_issuer_that_fails_lets_nobody_in_and_says_nothing_of_tokens(
    authority: Authority, opened: Opened, caplog: pytest.LogCaptureFixture
) -> None:
    for answer in (
        JSONResponse({"error": "invalid_client"}, 401),
        Response("opaque", 200),
        JSONResponse({"error": "opaque token\n"}, 500),
    ):
        authority.failing["/introspect"] = answer
        async with opened(TEXT) as access:
            assert (await refusal(access, "opaque")).status == 503
    assert "invalid_client" in caplog.text
    assert "opaque" not in caplog.text
    assert SECRET not in caplog.text


async def test_a_secret_that_is_gone_lets_nobody_in(
    authority: Authority, opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    authority.introspectable("opaque")
    async with opened(TEXT) as access:
        monkeypatch.delenv("SAYSO_TEST_SECRET")
        assert (await refusal(access, "opaque")).status == 503


async def test_an_issuer_that_hangs_holds_up_each_for_a_bounded_time(
    authority: Authority, opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    statuses: list[int] = []

    async def one(access: Access, token: str) -> None:
        statuses.append((await refusal(access, token)).status)

    async with opened(f'{TEXT}url = "{{issuer}}/introspect"\n') as access:
        verifier: Any = access
        monkeypatch.setattr(verifier.verifier.fetcher, "seconds", 0.3)
        authority.is_hanging = True
        with anyio.fail_after(60):
            async with anyio.create_task_group() as group:
                for index in range(64):
                    group.start_soon(one, access, f"token-{index % 40}")
    assert statuses == [503] * 64
    assert authority.hits["/introspect"] <= 40
