"""A server that wants tokens gets sayso's own, or one per caller; never a caller's."""

import json
import logging
import re
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from starlette.responses import RedirectResponse, Response
from tests.access.authority import SECRET, Authority, serve_authority
from tests.connect.servers.web import MODERN, OLD, Exchange, serve_web
from tests.connect.serving import free_port, raw_client, serve_app
from tests.connect.test_credentials import Clock
from tests.gateway.admitting import VARIABLE, Admitting, admitting, auth_at, wanting
from tests.gateway.test_upstream import holding

from sayso.access import load_access, open_access
from sayso.connect import Fault, RpcError, Target, UrlTarget, parse_target
from sayso.connect.credentials import ClientCredentials, Wallet
from sayso.connect.fetch import Fetcher, open_fetcher
from sayso.connect.kinds import AuthKind
from sayso.connect.link import Link
from sayso.errors import AuthenticationError, TimedOutError, UnreachableError
from sayso.gateway import make_app, open_gateway
from sayso.gateway.health import State
from sayso.keys import Keyring
from sayso.policy import Principal
from sayso.store import open_store

pytestmark = pytest.mark.anyio

AMY, BO = Principal("amy"), Principal("bo")
KEYS = Keyring.of([b"k" * 32])
SUM = {"name": "get_sum", "arguments": {"a": 2, "b": 3}}
PAGE = Path(__file__).parents[2] / "docs" / "guides" / "access.md"


@pytest.fixture(autouse=True)
def secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, SECRET)


@pytest.fixture
async def authority() -> AsyncGenerator[Authority]:
    async with serve_authority() as running:
        yield running


@pytest.fixture
async def fetcher() -> AsyncGenerator[Fetcher]:
    async with open_fetcher(2.0) as opened:
        yield opened


@pytest.fixture(params=[False, True], ids=["modern", "handshake"])
async def server(
    request: pytest.FixtureRequest, authority: Authority
) -> AsyncGenerator[tuple[Admitting, str]]:
    """A server that checks tokens, of either era."""
    async with admitting(authority, is_old=request.param) as running:
        yield running


@asynccontextmanager
async def gateway(
    *targets: Target, authority: Authority, store: Path, more: str = ""
) -> AsyncGenerator[str]:
    """A gateway that takes the authorization server's tokens, and its address."""
    kept, wallet = open_store(f"sqlite:{store}"), Wallet()
    settings = load_access(f'{more}\n[oauth]\nissuer = "{authority.base}"\n')
    port = free_port("127.0.0.1")
    base = f"http://127.0.0.1:{port}"
    async with (
        open_gateway(targets, kept, timeout=20, keys=KEYS, wallet=wallet) as opened,
        open_access(settings, kept.api_keys, KEYS, url=base, wallet=wallet) as access,
        serve_app(make_app(opened, base, access=access), port) as served,
    ):
        yield served
    await kept.close()


def token_of(authority: Authority, base: str, subject: str) -> str:
    return authority.sign(sub=subject, aud=f"{base}/mcp")


async def summed(link: Link) -> Any:
    answer = await link.request("tools/call", SUM, timeout=60)
    return answer["structuredContent"]["result"]


@pytest.mark.parametrize("era", [MODERN, OLD])
async def test_two_callers_are_two_to_the_server_and_neither_by_the_token_they_came_with(
    authority: Authority, server: tuple[Admitting, str], tmp_path: Path, era: str
) -> None:
    admits, url = server
    target = wanting(url, authority, AuthKind.TOKEN_EXCHANGE)
    async with gateway(target, authority=authority, store=tmp_path / "a.db") as base:
        tokens = [token_of(authority, base, one) for one in ("amy", "bo")]
        for token in tokens:
            proof = {"authorization": f"Bearer {token}"}
            async with raw_client(f"{base}/mcp", era, **proof) as client:
                listed = await client.result("tools/list")
                assert "real__get_sum" in [one["name"] for one in listed["tools"]]
                answer = await client.call("real__get_sum", {"a": 2, "b": 3})
                assert answer["structuredContent"] == {"result": 5}
    assert admits.callers() == set(tokens)
    assert set(admits.shown) == {"Bearer upstream-1", "Bearer upstream-2"}
    assert admits.refused == 0


async def test_with_client_credentials_one_token_serves_all_callers(
    authority: Authority, server: tuple[Admitting, str], tmp_path: Path
) -> None:
    admits, url = server
    target = wanting(url, authority, AuthKind.CLIENT_CREDENTIALS)
    async with gateway(target, authority=authority, store=tmp_path / "a.db") as base:
        for one in ("amy", "bo"):
            proof = {"authorization": f"Bearer {token_of(authority, base, one)}"}
            async with raw_client(f"{base}/mcp", MODERN, **proof) as client:
                answer = await client.call("real__get_sum", {"a": 2, "b": 3})
                assert answer["structuredContent"] == {"result": 5}
    assert set(admits.shown) == {"Bearer upstream-1"}


async def test_a_token_is_renewed_before_its_server_says_that_it_is_over(
    authority: Authority, fetcher: Fetcher, server: tuple[Admitting, str]
) -> None:
    admits, url = server
    clock = Clock()
    target = wanting(url, authority, AuthKind.CLIENT_CREDENTIALS)
    assert target.auth is not None
    own = ClientCredentials(target.auth, fetcher, clock)
    async with holding(target, credentials=own) as upstream:
        link = await upstream.of(AMY).link()
        assert await summed(link) == 5
        clock.now, admits.since = 290.0, 2
        assert await summed(link) == 5
        assert await upstream.of(AMY).link() is link
    assert set(admits.shown) == {"Bearer upstream-1", "Bearer upstream-2"}
    assert admits.refused == 0


async def test_a_token_that_the_server_takes_no_more_is_replaced_and_the_call_runs_once(
    authority: Authority, fetcher: Fetcher, server: tuple[Admitting, str]
) -> None:
    admits, url = server
    clock = Clock()
    target = wanting(url, authority, AuthKind.CLIENT_CREDENTIALS)
    assert target.auth is not None
    own = ClientCredentials(target.auth, fetcher, clock)
    async with holding(target, credentials=own) as upstream:
        link = await upstream.of(AMY).link()
        assert await summed(link) == 5
        clock.now, admits.since = 60.0, 2
        async with anyio.create_task_group() as group:
            for _ in range(8):
                group.start_soon(summed, link)
        # One session all along, and one new token for all that were refused.
        assert await upstream.of(AMY).link() is link
    assert len(authority.issued) == 2
    assert 1 <= admits.refused <= 8


async def test_a_refused_call_is_sent_once_more_and_not_again(
    authority: Authority, fetcher: Fetcher
) -> None:
    def refuse(exchange: Exchange) -> None:
        exchange.reply(401)

    clock = Clock()
    with serve_web() as site:
        target = wanting(site.url, authority, AuthKind.CLIENT_CREDENTIALS)
        assert target.auth is not None
        own = ClientCredentials(target.auth, fetcher, clock)
        async with holding(target, credentials=own) as upstream:
            link = await upstream.of(AMY).link()
            site.faults["tools_call"] = refuse
            for tries in (1, 3):
                # At first the token is too new for another to be of use.
                with pytest.raises(RpcError) as caught:
                    await link.request("tools/call", SUM, timeout=60)
                assert caught.value.fault is Fault.UNAUTHORIZED
                assert not caught.value.may_have_run
                assert len(site.asked("tools/call")) == tries
                clock.now += 60.0
            # What may have run is not sent again, whatever the token.
            site.faults["tools_call"] = Exchange.drop
            with pytest.raises(RpcError) as caught:
                await link.request("tools/call", SUM, timeout=60)
            assert caught.value.fault is Fault.LOST
            assert len(site.asked("tools/call")) == 4


async def test_a_server_that_takes_none_of_the_tokens_says_where_to_look(
    authority: Authority, fetcher: Fetcher
) -> None:
    with serve_web(any=lambda exchange: exchange.reply(401)) as site:
        target = wanting(site.url, authority, AuthKind.CLIENT_CREDENTIALS)
        assert target.auth is not None
        async with holding(target, credentials=ClientCredentials(target.auth, fetcher)) as upstream:
            with pytest.raises(AuthenticationError, match=r"“audience” in its “sayso\.auth”"):
                await upstream.of(AMY).link()
    assert len(authority.issued) == 1


async def test_an_authorization_server_that_is_away_is_told_of_and_used_when_it_is_back(
    authority: Authority,
    fetcher: Fetcher,
    server: tuple[Admitting, str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("sayso.gateway.backoff._PAUSE_SECONDS", 0.0)
    admits, url = server
    clock = Clock()
    target = wanting(url, authority, AuthKind.CLIENT_CREDENTIALS)
    assert target.auth is not None
    own = ClientCredentials(target.auth, fetcher, clock)
    away = Response(status_code=503)
    authority.failing["/token"] = away
    async with holding(target, credentials=own) as upstream:
        with pytest.raises(UnreachableError, match="authorization server failed: HTTP 503") as no:
            await upstream.of(AMY).link()
        assert no.value.where == target.auth.token_url
        assert upstream.health().worst.state is State.FAILING
        assert admits.shown == []
        del authority.failing["/token"]
        clock.now = 10.0
        link = await upstream.of(AMY).link()
        assert await summed(link) == 5

        # Away while its token runs out: nothing is sent, and the connection stays.
        authority.failing["/token"] = away
        clock.now, before = 1000.0, len(admits.shown)
        with pytest.raises(RpcError, match="authorization server failed") as caught:
            await summed(link)
        assert (caught.value.fault, caught.value.may_have_run) == (Fault.NOT_SENT, False)
        assert len(admits.shown) == before
        del authority.failing["/token"]
        clock.now = 1010.0
        assert await summed(link) == 5
        assert await upstream.of(AMY).link() is link


async def test_one_that_hangs_is_not_waited_for(authority: Authority) -> None:
    authority.is_hanging = True
    async with open_fetcher(0.2) as fetcher:
        auth = auth_at(authority, AuthKind.CLIENT_CREDENTIALS)
        target = UrlTarget("real", "http://127.0.0.1:9/mcp", auth=auth)
        async with holding(target, credentials=ClientCredentials(auth, fetcher)) as upstream:
            with pytest.raises(TimedOutError) as caught:
                await upstream.of(AMY).link()
    assert caught.value.where == auth.token_url


async def test_where_the_secret_is_missing_it_is_said_which(
    authority: Authority, fetcher: Fetcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(VARIABLE)
    auth = auth_at(authority, AuthKind.CLIENT_CREDENTIALS)
    target = UrlTarget("real", "http://127.0.0.1:9/mcp", auth=auth)
    async with holding(target, credentials=ClientCredentials(auth, fetcher)) as upstream:
        with pytest.raises(AuthenticationError, match="variable is not set") as caught:
            await upstream.of(AMY).link()
    assert caught.value.where == VARIABLE


async def test_a_token_endpoint_that_sends_sayso_on_is_not_followed(
    authority: Authority, fetcher: Fetcher
) -> None:
    with serve_web() as inside:
        authority.failing["/token"] = RedirectResponse(inside.url, 307)
        auth = auth_at(authority, AuthKind.CLIENT_CREDENTIALS)
        target = UrlTarget("real", inside.url, auth=auth)
        async with holding(target, credentials=ClientCredentials(auth, fetcher)) as upstream:
            with pytest.raises(UnreachableError, match="HTTP 307"):
                await upstream.of(AMY).link()
        assert inside.requests == []


async def test_who_has_no_token_to_exchange_runs_nothing_and_nobody_reads_why_but_the_log(
    authority: Authority,
    server: tuple[Admitting, str],
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    admits, url = server
    store = tmp_path / "a.db"
    target = wanting(url, authority, AuthKind.TOKEN_EXCHANGE)
    async with gateway(target, authority=authority, store=store) as base:
        amys = token_of(authority, base, "amy")
        proof = {"authorization": f"Bearer {amys}"}
        async with raw_client(f"{base}/mcp", MODERN, **proof) as client:
            answer = await client.call("real__get_sum", {"a": 2, "b": 3})
            assert answer["structuredContent"] == {"result": 5}
            authority.failing["/token"] = Response('{"error": "invalid_grant"}', 400)
            bos = {"authorization": f"Bearer {token_of(authority, base, 'bo')}"}
        async with raw_client(f"{base}/mcp", MODERN, **bos) as client:
            answer = await client.ask("tools/call", {"name": "real__get_sum", "arguments": {}})
            listed = await client.result("tools/list")
    told = json.dumps([answer, listed])
    assert "invalid_grant" not in told
    assert "Nothing was run" in told
    logged = "\n".join(str(one.msg % one.args) for one in caplog.records if "sayso" in one.name)
    assert "invalid_grant" in logged
    assert admits.callers() == {amys}
    said = logged + told + store.read_bytes().decode("latin-1")
    for one in (amys, SECRET, "upstream-1"):
        assert one not in said


async def test_a_server_for_callers_alone_is_not_asked_before_one_has_come(
    authority: Authority,
) -> None:
    target = wanting("http://127.0.0.1:9/mcp", authority, AuthKind.TOKEN_EXCHANGE)
    async with holding(target) as upstream:
        with pytest.raises(AuthenticationError, match="accepts only callers"):
            await upstream.tools()
        assert upstream.health().worst.state is State.UNTRIED


async def test_the_example_of_the_documents_lets_callers_in(
    authority: Authority, server: tuple[Admitting, str], tmp_path: Path
) -> None:
    admits, url = server
    (example,) = re.findall(r"```json\n(\{\n  \"mcpServers\".*?)```", PAGE.read_text(), re.DOTALL)
    text = example.replace("https://crm.example.com/mcp", url)
    text = text.replace("https://login.example.com", authority.base)
    (tmp_path / "mcp.json").write_text(text)
    (tmp_path / "crm.secret").write_text(f"{SECRET}\n")
    targets = parse_target([str(tmp_path / "mcp.json")])
    async with gateway(*targets, authority=authority, store=tmp_path / "a.db") as base:
        proof = {"authorization": f"Bearer {token_of(authority, base, 'amy')}"}
        async with raw_client(f"{base}/mcp", MODERN, **proof) as client:
            answer = await client.call("crm__get_sum", {"a": 2, "b": 3})
    assert answer["structuredContent"] == {"result": 5}
    assert authority.issued[0]["audience"] == "crm"
    assert authority.issued[0]["scope"] == "records.read"
    assert set(admits.shown) == {"Bearer upstream-1"}
