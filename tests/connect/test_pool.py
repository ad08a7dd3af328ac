"""The way to a server: TLS that is checked, proxies, and what stands for “nothing was sent”."""

import base64
import ssl
from collections.abc import Generator
from pathlib import Path

import anyio
import pytest
import uvloop
from tests.connect.servers.raw import (
    OK,
    Certified,
    Reader,
    Writer,
    certify,
    read_head,
    saying,
    serve_proxy,
    serve_raw,
)
from tests.connect.servers.web import MODERN, OLD, serve_web
from tests.connect.serving import free_port
from tests.connect.test_connection import ask

from sayso.connect import UrlTarget
from sayso.connect.link import open_link
from sayso.connect.listing import list_all
from sayso.connect.web import pool as pool_module
from sayso.connect.web.pool import NotSentError, Pool, tls
from sayso.errors import UnreachableError

pytestmark = pytest.mark.anyio

CREDENTIALS = base64.b64encode(b"amy:p@ss").decode()


@pytest.fixture
def certified(tmp_path: Path) -> Certified:
    return certify(tmp_path)


@pytest.fixture
def trusted(certified: Certified, monkeypatch: pytest.MonkeyPatch) -> Generator[Certified]:
    """TLS by an authority that this machine trusts, as people who have their own make it do so."""
    monkeypatch.setenv("SSL_CERT_FILE", str(certified.authority))
    tls.cache_clear()
    yield certified
    tls.cache_clear()


async def refusal(url: str) -> str:
    """Why nothing was sent."""
    pool = Pool.to(url)
    with pytest.raises(NotSentError) as caught, anyio.fail_after(60):
        await pool.exchange("POST", "/mcp", {}, b"{}")
    await pool.close()
    return str(caught.value)


async def listed(url: str) -> int:
    """Return the number of tools that each of many concurrent callers gets."""
    found: set[int] = set()
    async with open_link(UrlTarget("web", url), timeout=60) as link:

        async def count() -> None:
            found.add(len(await list_all(link, "tools/list", timeout=60)))

        async with anyio.create_task_group() as group:
            for _ in range(8):
                group.start_soon(count)
    (one,) = found
    return one


@pytest.mark.parametrize("era", [MODERN, OLD])
async def test_a_server_is_reached_over_tls(trusted: Certified, era: str) -> None:
    with serve_web(era, trusted.context) as site:
        assert await listed(site.url) == 2


async def test_a_server_that_nobody_vouches_for_gets_nothing(certified: Certified) -> None:
    async with serve_raw(saying(OK), certified.context) as raw:
        assert "certificate verify failed" in await refusal(raw.secure_url)


async def test_nor_does_one_with_another_name(trusted: Certified, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    del trusted
    elsewhere = certify(other, "elsewhere.example")
    async with serve_raw(saying(OK), elsewhere.context) as raw:
        assert "certificate verify failed" in await refusal(raw.secure_url)


async def test_nor_one_that_speaks_no_tls(trusted: Certified) -> None:
    async def script(_: Reader, writer: Writer) -> None:
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        await writer.drain()

    del trusted
    async with serve_raw(script) as raw:
        assert "SSL" in await refusal(raw.secure_url)


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 200 Connection established\r\n\r\n",
        b"HTTP/1.0 200 OK\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n",
        b"HTTP/1.0 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n",
    ],
)
async def test_a_proxy_carries_tls_and_reads_nothing_of_it(
    trusted: Certified, monkeypatch: pytest.MonkeyPatch, answer: bytes
) -> None:
    monkeypatch.setenv("no_proxy", "")
    with serve_web(MODERN, trusted.context) as site:
        async with serve_proxy(answer) as proxy:
            # As a person writes it: without a scheme, and with what proves who asks.
            monkeypatch.setenv("https_proxy", f"amy:p%40ss@127.0.0.1:{proxy.port}")
            assert await listed(site.url) == 2
        place = site.url.removeprefix("https://").removesuffix("/mcp")
        for head in proxy.heads:
            assert head.startswith(f"CONNECT {place} HTTP/1.1\r\nhost: {place}\r\n")
            assert f"proxy-authorization: Basic {CREDENTIALS}\r\n" in head
        # What is for the proxy alone goes no further, and a tunnel serves many requests.
        assert not any("proxy-authorization" in one.headers for one in site.requests)
        assert 1 <= len(proxy.heads) < len(site.requests)


async def test_a_proxy_may_itself_want_tls(
    trusted: Certified, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("no_proxy", "")
    with serve_web(MODERN, trusted.context) as site:
        async with serve_proxy(tls=trusted.context) as proxy:
            monkeypatch.setenv("https_proxy", f"https://localhost:{proxy.port}")
            assert await listed(site.url) == 2
    assert proxy.heads


def test_tunnels_carry_on_the_loop_that_sayso_is_served_on(
    trusted: Certified, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def main(url: str) -> int:
        async with serve_proxy() as proxy:
            monkeypatch.setenv("https_proxy", f"http://127.0.0.1:{proxy.port}")
            found = await listed(url)
        assert proxy.heads
        return found

    monkeypatch.setenv("no_proxy", "")
    with serve_web(MODERN, trusted.context) as site:
        assert uvloop.run(main(site.url)) == 2


async def test_a_tunnel_to_an_impostor_carries_nothing(
    certified: Certified, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("no_proxy", "")
    async with serve_raw(saying(OK), certified.context) as raw, serve_proxy() as proxy:
        monkeypatch.setenv("https_proxy", f"http://127.0.0.1:{proxy.port}")
        assert "certificate verify failed" in await refusal(raw.secure_url)


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (
            b"HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n",
            "the proxy answers with HTTP 407",
        ),
        (b"HTTP/1.1 502 Bad Gateway\r\n\r\n", "the proxy answers with HTTP 502"),
        (b"", "the server closed the connection"),
        (b"HTTP/1.1 200 OK\r\n\r\nno TLS at all", ""),
    ],
)
async def test_a_proxy_that_makes_no_tunnel_says_that_nothing_was_sent(
    monkeypatch: pytest.MonkeyPatch, answer: bytes, why: str
) -> None:
    monkeypatch.setenv("no_proxy", "")
    async with serve_raw(saying(answer, is_kept=False)) as raw:
        monkeypatch.setenv("https_proxy", f"http://127.0.0.1:{raw.port}")
        assert why in await refusal("https://[2001:db8::1]/mcp")
        with pytest.raises(UnreachableError, match="no connection"):
            await listed("https://server.example/mcp")


async def test_a_proxy_that_hangs_is_not_waited_for_and_not_left_open(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ended = anyio.Event()

    async def script(reader: Reader, _: Writer) -> None:
        await read_head(reader)
        assert await reader.read() == b""
        ended.set()

    monkeypatch.setenv("no_proxy", "")
    monkeypatch.setattr(pool_module, "_CONNECT_SECONDS", 0.2)
    async with serve_raw(script) as raw:
        monkeypatch.setenv("https_proxy", f"http://127.0.0.1:{raw.port}")
        assert await refusal("https://server.example/mcp") == "no connection within 0.2 s"
        with anyio.fail_after(60):
            await ended.wait()


async def test_a_proxy_that_reads_along_is_told_the_whole_address_and_who_asks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    heads: list[str] = []

    async def script(reader: Reader, writer: Writer) -> None:
        heads.append(await read_head(reader))
        writer.write(OK)
        await writer.drain()

    monkeypatch.setenv("no_proxy", "")
    async with serve_raw(script) as raw:
        monkeypatch.setenv("http_proxy", f"http://amy:p%40ss@127.0.0.1:{raw.port}")
        pool = Pool.to("http://server.example:8080/mcp")
        assert await ask(pool) == (200, b"{}")
        await pool.close()
    (head,) = heads
    assert head.startswith("POST http://server.example:8080/mcp HTTP/1.1\r\n")
    assert f"proxy-authorization: Basic {CREDENTIALS}\r\n" in head


async def test_a_host_that_cannot_be_one_is_named() -> None:
    why = await refusal(f"http://{'x' * 64}.example/mcp")
    assert "cannot be a host's name" in why


async def test_where_nobody_listens_nothing_was_sent() -> None:
    assert await refusal(f"http://127.0.0.1:{free_port('127.0.0.1')}/mcp")


async def test_turns_are_given_back_whatever_happens(monkeypatch: pytest.MonkeyPatch) -> None:
    """As many as may be under way can fail, and the next still has its turn."""
    monkeypatch.setattr(pool_module, "_MAX_EXCHANGES", 1)
    pool = Pool.to(f"http://127.0.0.1:{free_port('127.0.0.1')}/mcp")
    for _ in range(3):
        with pytest.raises(NotSentError), anyio.fail_after(60):
            await pool.exchange("GET", "/mcp", {})


async def test_what_is_said_after_the_end_leaves_no_connection() -> None:
    """An old server is told of a call that was given up while its connection is left."""
    ended = anyio.Event()

    async def script(reader: Reader, writer: Writer) -> None:
        await saying(OK)(reader, writer)
        ended.set()

    async with serve_raw(script) as raw:
        pool = Pool.to(raw.url)
        await pool.close()
        assert await ask(pool) == (200, b"{}")
        with anyio.fail_after(60):
            await ended.wait()


def test_one_context_serves_all_connections() -> None:
    assert tls() is tls()
    assert tls().verify_mode is ssl.CERT_REQUIRED
