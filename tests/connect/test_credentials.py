"""Tokens of sayso's own for servers behind it; never the one that a caller sent."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass, replace
from typing import Any

import anyio
import pytest
from starlette.responses import JSONResponse, Response
from tests.access.authority import CLIENT, SECRET, Authority, serve_authority

from sayso.connect import CommandTarget, UrlTarget
from sayso.connect.credentials import (
    ClientCredentials,
    Credentials,
    TokenExchange,
    Wallet,
    credentials_for,
    open_proof,
)
from sayso.connect.fetch import Fetcher, open_fetcher
from sayso.connect.kinds import AuthKind, UpstreamAuth
from sayso.connect.refreshing_cache import COOLDOWN
from sayso.errors import AuthenticationError, UnreachableError
from sayso.keys import Reference
from sayso.policy import Principal

pytestmark = pytest.mark.anyio

AMY = Principal("amy", client="chat", scopes=frozenset({"crm.read", "crm.write"}))
BO = Principal("bo", client="chat", scopes=frozenset({"crm.read"}))
LATER = 2.0**40


@dataclass
class Clock:
    now: float = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture(autouse=True)
def secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SAYSO_TEST_SECRET", SECRET)


@pytest.fixture
async def authority() -> AsyncGenerator[Authority]:
    async with serve_authority() as running:
        yield running


@pytest.fixture
async def fetcher() -> AsyncGenerator[Fetcher]:
    async with open_fetcher(2.0) as opened:
        yield opened


def auth(authority: Authority, kind: AuthKind, **more: Any) -> UpstreamAuth:
    place = Reference("env", "SAYSO_TEST_SECRET")
    return UpstreamAuth(kind, f"{authority.base}/token", CLIENT, place, **more)


def make_credentials(auth: UpstreamAuth, fetcher: Fetcher, wallet: Wallet) -> Credentials:
    target = UrlTarget("crm", "https://crm.example/mcp", auth=auth)
    credentials = credentials_for(target, fetcher, wallet)
    assert credentials is not None
    return credentials


async def test_one_token_serves_all_callers(authority: Authority, fetcher: Fetcher) -> None:
    said = auth(authority, AuthKind.CLIENT_CREDENTIALS, scope="crm", resource="https://crm.example")
    credentials = make_credentials(said, fetcher, Wallet())
    assert isinstance(credentials, ClientCredentials)
    async with anyio.create_task_group() as group:
        for principal in (AMY, BO) * 20:
            group.start_soon(credentials.headers, principal)
    assert await credentials.headers(AMY) == {"Authorization": "Bearer upstream-1"}
    assert authority.issued == [
        {"grant_type": "client_credentials", "scope": "crm", "resource": "https://crm.example"}
    ]


async def test_a_token_is_renewed_before_it_ends_and_used_till_then(
    authority: Authority, fetcher: Fetcher
) -> None:
    clock = Clock()
    said = auth(authority, AuthKind.CLIENT_CREDENTIALS)
    credentials = ClientCredentials(said, fetcher, clock)
    tokens: list[str] = []
    for now in (0.0, 239.0, 241.0):
        clock.now = now
        tokens.append((await credentials.headers(AMY))["Authorization"])
    authority.failing["/token"] = Response(status_code=503)
    clock.now = 241.0 + 294.0
    tokens.append((await credentials.headers(AMY))["Authorization"])
    assert [one[-1] for one in tokens] == ["1", "1", "2", "2"]
    clock.now += 6
    with pytest.raises(UnreachableError):
        await credentials.headers(AMY)


async def test_a_token_that_the_server_did_not_take_is_not_used_again(
    authority: Authority, fetcher: Fetcher
) -> None:
    clock = Clock()
    credentials = ClientCredentials(auth(authority, AuthKind.CLIENT_CREDENTIALS), fetcher, clock)
    await credentials.headers(AMY)
    credentials.forget(AMY)
    assert await credentials.headers(AMY) == {"Authorization": "Bearer upstream-1"}
    clock.now = COOLDOWN
    credentials.forget(AMY)
    assert await credentials.headers(AMY) == {"Authorization": "Bearer upstream-2"}


async def test_each_caller_has_a_token_of_its_own_in_exchange(
    authority: Authority, fetcher: Fetcher
) -> None:
    wallet = Wallet()
    said = auth(authority, AuthKind.TOKEN_EXCHANGE, audience="crm")
    clock = Clock()
    made = make_credentials(said, fetcher, wallet)
    assert isinstance(made, TokenExchange)
    credentials = replace(made, clock=clock)
    wallet.put(AMY, "amys-own", expires=LATER)
    wallet.put(BO, "bos-own", expires=LATER)
    headers = [await credentials.headers(one) for one in (AMY, BO, AMY)]
    assert [one["Authorization"][-1] for one in headers] == ["1", "2", "1"]
    assert [one["subject_token"] for one in authority.issued] == ["amys-own", "bos-own"]
    assert authority.issued[0] == {
        "grant_type": "urn:ietf:params:oauth:grant-type:token-exchange",
        "subject_token": "amys-own",
        "subject_token_type": "urn:ietf:params:oauth:token-type:access_token",
        "requested_token_type": "urn:ietf:params:oauth:token-type:access_token",
        "audience": "crm",
    }
    assert not any("own" in str(one) for one in headers)
    clock.now = COOLDOWN
    credentials.forget(AMY)
    credentials.forget(Principal("nobody"))
    assert (await credentials.headers(AMY))["Authorization"] == "Bearer upstream-3"


async def test_what_was_had_for_more_scopes_serves_nobody_with_fewer(
    authority: Authority, fetcher: Fetcher
) -> None:
    wallet = Wallet()
    credentials = make_credentials(auth(authority, AuthKind.TOKEN_EXCHANGE), fetcher, wallet)
    narrow = replace(AMY, scopes=frozenset({"crm.read"}))
    wallet.put(AMY, "wide", expires=LATER)
    await credentials.headers(AMY)
    with pytest.raises(AuthenticationError, match="no token to exchange"):
        await credentials.headers(narrow)
    wallet.put(narrow, "narrow", expires=LATER)
    assert await credentials.headers(narrow) == {"Authorization": "Bearer upstream-2"}


async def test_nothing_is_given_out_for_a_caller_whose_own_token_is_over(
    authority: Authority, fetcher: Fetcher
) -> None:
    clock = Clock()
    wallet = Wallet(clock)
    credentials = make_credentials(auth(authority, AuthKind.TOKEN_EXCHANGE), fetcher, wallet)
    wallet.put(AMY, "own", expires=60.0)
    assert await credentials.headers(AMY)
    clock.now = 60.0
    with pytest.raises(AuthenticationError):
        await credentials.headers(AMY)
    wallet.put(AMY, "newer", expires=120.0)
    assert await credentials.headers(AMY) == {"Authorization": "Bearer upstream-2"}


async def test_a_token_that_ends_while_it_is_exchanged_is_not_exchanged(
    authority: Authority, fetcher: Fetcher
) -> None:
    said = auth(authority, AuthKind.TOKEN_EXCHANGE)
    times = iter([0.0, 60.0])
    wallet = Wallet(lambda: next(times))
    wallet.put(AMY, "own", expires=60.0)
    with pytest.raises(AuthenticationError):
        await make_credentials(said, fetcher, wallet).headers(AMY)
    assert authority.issued == []


async def test_the_callers_own_token_is_sent_to_no_server_whatever_the_issuer_answers(
    authority: Authority, fetcher: Fetcher
) -> None:
    wallet = Wallet()
    wallet.put(AMY, "own", expires=LATER)
    authority.token_fields = {"access_token": "own"}
    credentials = make_credentials(auth(authority, AuthKind.TOKEN_EXCHANGE), fetcher, wallet)
    with pytest.raises(AuthenticationError, match="which sayso does not use"):
        await credentials.headers(AMY)


@pytest.mark.parametrize(
    ("answer", "kind", "told"),
    [
        (JSONResponse({"error": "invalid_scope"}, 400), AuthenticationError, "invalid_scope"),
        (JSONResponse({"error": "own"}, 500), UnreachableError, "failed: own"),
        (JSONResponse({}), UnreachableError, "no bearer token"),
        (JSONResponse({"access_token": "t"}), UnreachableError, "no bearer token"),
        (
            JSONResponse({"access_token": "t", "token_type": "mac"}),
            UnreachableError,
            "no bearer token",
        ),
        (
            JSONResponse({"access_token": "a\r\nb: c", "token_type": "bearer"}),
            UnreachableError,
            "no bearer token",
        ),
        (
            JSONResponse({"access_token": "a b", "token_type": "bearer"}),
            UnreachableError,
            "no bearer token",
        ),
        (
            JSONResponse({"access_token": 7, "token_type": "bearer"}),
            UnreachableError,
            "no bearer token",
        ),
        (
            JSONResponse({"access_token": "", "token_type": "bearer"}),
            UnreachableError,
            "no bearer token",
        ),
    ],
)
async def test_an_issuer_that_gives_no_token_is_told_of_in_its_code_alone(
    authority: Authority,
    fetcher: Fetcher,
    answer: Response,
    kind: type[Exception],
    told: str,
) -> None:
    authority.failing["/token"] = answer
    credentials = ClientCredentials(auth(authority, AuthKind.CLIENT_CREDENTIALS), fetcher)
    with pytest.raises(kind, match=told) as caught:
        await credentials.headers(AMY)
    assert SECRET not in str(caught.value)
    with pytest.raises(kind):
        await credentials.headers(AMY)
    assert authority.hits["/token"] == 1  # not asked again at once


@pytest.mark.parametrize(
    ("said", "fresh", "over"),
    [(100, 79.0, 96.0), (2, 0.9, 1.1), (None, 47.0, 56.0), ("soon", 47.0, 56.0), (-1, 47.0, 56.0),
     (True, 47.0, 56.0), (10**9, 2879.0, 3596.0),
     (10**400, 2879.0, 3596.0)],
)  # fmt: skip
async def test_how_long_a_token_is_kept(
    authority: Authority, fetcher: Fetcher, said: Any, fresh: float, over: float
) -> None:
    clock = Clock()
    authority.token_fields = {"expires_in": said}
    credentials = ClientCredentials(auth(authority, AuthKind.CLIENT_CREDENTIALS), fetcher, clock)
    await credentials.headers(AMY)
    clock.now = fresh
    await credentials.headers(AMY)
    assert len(authority.issued) == 1
    authority.failing["/token"] = Response(status_code=503)
    clock.now = over
    with pytest.raises(UnreachableError):
        await credentials.headers(AMY)


async def test_the_tokens_of_so_many_callers_are_kept_and_no_more(
    authority: Authority, fetcher: Fetcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sayso.connect.credentials._MOST", 2)
    wallet = Wallet()
    credentials = TokenExchange(auth(authority, AuthKind.TOKEN_EXCHANGE), fetcher, wallet)
    callers = [Principal(name) for name in "abc"]
    for one in callers:
        wallet.put(one, f"own-{one.subject}", expires=LATER)
        await credentials.headers(one)
    assert wallet.get(callers[0]) is None
    assert [wallet.get(one) for one in callers[1:]] == ["own-b", "own-c"]
    assert "own-b" not in repr((wallet, credentials))


async def test_sayso_proves_itself_where_nobody_calls_but_not_as_a_caller(
    authority: Authority,
) -> None:
    own, callers = (
        UrlTarget("crm", "https://crm.example/mcp", auth=auth(authority, kind))
        for kind in (AuthKind.CLIENT_CREDENTIALS, AuthKind.TOKEN_EXCHANGE)
    )
    async with open_proof(own) as proof:
        assert proof is not None
        assert await proof.headers() == {"Authorization": "Bearer upstream-1"}
    async with open_proof(callers) as proof:
        assert proof is not None
        with pytest.raises(AuthenticationError):
            await proof.headers()
    for other in (CommandTarget("x", "x"), UrlTarget("crm", "https://crm.example/mcp")):
        async with open_proof(other) as proof:
            assert proof is None
