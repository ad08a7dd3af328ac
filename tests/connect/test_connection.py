"""One HTTP connection: what a server may do with it, and what becomes of the exchange."""

import socket
import struct
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import anyio
import pytest
from tests.connect.servers.raw import OK, Raw, Reader, Script, Writer, read_head, saying, serve_raw
from tests.connect.serving import until

from sayso.connect.web import pool as pool_module
from sayso.connect.web.connection import BrokenError
from sayso.connect.web.pool import Exchange, NotSentError, Pool

pytestmark = pytest.mark.anyio

HEAD = b"HTTP/1.1 200 OK\r\n"


@asynccontextmanager
async def talking(script: Script) -> AsyncGenerator[tuple[Pool, Raw]]:
    """A server that plays `script`, and a pool of connections to it."""
    async with serve_raw(script) as raw:
        pool = Pool.to(raw.url)
        yield pool, raw
        await pool.close()


async def ask(pool: Pool, most: int = 1 << 30) -> tuple[int, bytes]:
    """One exchange to its end; bounded, since it must come."""
    with anyio.fail_after(60):
        exchange = await pool.exchange("POST", "/mcp", {}, b"{}")
        try:
            await exchange.reply.head()
            return exchange.reply.status, await exchange.reply.body(most)
        finally:
            exchange.close()


async def test_a_connection_is_kept_for_the_next_exchange() -> None:
    async with talking(saying(OK, OK)) as (pool, raw):
        assert [await ask(pool), await ask(pool)] == [(200, b"{}")] * 2
    assert raw.connections == 1


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2\r\n\r\n{}",
        b"HTTP/1.0 200 OK\r\ncontent-length: 2\r\n\r\n{}",
    ],
)
async def test_one_that_the_server_ends_is_not_used_again(answer: bytes) -> None:
    async with talking(saying(answer)) as (pool, raw):
        assert [await ask(pool), await ask(pool)] == [(200, b"{}")] * 2
    assert raw.connections == 2


async def test_a_body_without_a_length_ends_with_the_connection() -> None:
    async with talking(saying(HEAD + b"\r\nhel" + b"lo", is_kept=False)) as (pool, raw):
        assert await ask(pool) == (200, b"hello")
        assert await ask(pool) == (200, b"hello")
    assert raw.connections == 2


async def test_what_comes_before_the_answer_is_passed_over() -> None:
    early = b"HTTP/1.1 103 Early Hints\r\nlink: <x>\r\n\r\n"
    answer = b"HTTP/1.1 100 Continue\r\n\r\n" + early + OK
    async with talking(saying(answer, OK)) as (pool, _):
        exchange = await pool.exchange("POST", "/mcp", {}, b"{}")
        await exchange.reply.head()
        assert exchange.reply.status == 200
        assert "link" not in exchange.reply.headers
        assert await exchange.reply.body() == b"{}"
        exchange.close()
        assert await ask(pool) == (200, b"{}")


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (b"SSH-2.0-OpenSSH_9.6\r\n", "the answer is not HTTP"),
        (HEAD + b"content-length: no number\r\n\r\n", "the answer is not HTTP"),
        (HEAD + b"transfer-encoding: chunked\r\n\r\nzz\r\n", "the answer is not HTTP"),
        (HEAD + b"x: " + b"y" * 70_000 + b"\r\n\r\n", "the head of the answer is too large"),
        (HEAD + b"x: 123456789\r\n" * 20_000 + b"\r\n", "the head of the answer is too large"),
        (
            b"HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n",
            "another protocol",
        ),
        (HEAD + b"content-length: 100\r\n\r\n{}", "the server closed the connection"),
        (HEAD + b"transfer-encoding: chunked\r\n\r\n2\r\n{}", "the server closed the connection"),
        (b"HTTP/1.1 200", "the server closed the connection"),
        (b"", "the server closed the connection"),
    ],
)
async def test_an_answer_that_is_none_breaks_one_exchange(answer: bytes, why: str) -> None:
    turns = iter([saying(answer, is_kept=False), saying(OK)])

    async def script(reader: Reader, writer: Writer) -> None:
        await next(turns)(reader, writer)

    async with talking(script) as (pool, _):
        with pytest.raises(BrokenError, match=why):
            await ask(pool)
        assert await ask(pool) == (200, b"{}")


async def test_a_connection_that_is_reset_breaks_its_exchange() -> None:
    async def script(reader: Reader, writer: Writer) -> None:
        await read_head(reader)
        writer.write(HEAD + b"\r\nhalf")
        await writer.drain()
        await reached.wait()
        linger = struct.pack("ii", 1, 0)
        writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)

    reached = anyio.Event()
    async with talking(script) as (pool, _):
        exchange = await pool.exchange("GET", "/mcp", {})
        assert await exchange.reply.piece() == b"half"
        reached.set()
        with pytest.raises(BrokenError), anyio.fail_after(60):
            await exchange.reply.piece()
        exchange.close()


async def test_nothing_is_read_of_what_nobody_asked_for() -> None:
    """Data after an answer does not answer another request."""
    lie = OK.replace(b"{}", b"[]")
    told = anyio.Event()

    async def script(reader: Reader, writer: Writer) -> None:
        await read_head(reader)
        if raw.connections == 1:
            writer.write(OK + lie)
        elif raw.connections == 2:
            writer.write(OK + lie[:20])
        elif raw.connections == 3:
            writer.write(OK)
            await told.wait()
            writer.write(lie)
        else:
            writer.write(OK)
        await writer.drain()
        await reader.read()

    async with talking(script) as (pool, raw):
        for _ in range(2):
            assert await ask(pool) == (200, b"{}")
        exchange = await pool.exchange("POST", "/mcp", {}, b"{}")
        assert await exchange.reply.body() == b"{}"
        exchange.close()
        kept = exchange.connection
        assert kept.is_open
        told.set()
        await until(lambda: not kept.is_open)
        assert await ask(pool) == (200, b"{}")
    assert raw.connections == 4


async def test_a_server_is_slowed_down_to_the_pace_of_its_reader() -> None:
    size = 48 * 1024 * 1024
    sent = anyio.Event()

    async def script(reader: Reader, writer: Writer) -> None:
        while head := await read_head(reader):
            if head.startswith("GET"):
                writer.write(HEAD + b"content-length: %d\r\n\r\n" % size)
                for _ in range(48):
                    writer.write(b"x" * (size // 48))
                    await writer.drain()
                sent.set()
            else:
                writer.write(OK)

    async with talking(script) as (pool, _):
        exchange = await pool.exchange("GET", "/mcp", {})
        await until(lambda: exchange.reply.is_full)
        for _ in range(50):
            assert await ask(pool) == (200, b"{}")
        assert not sent.is_set()
        assert len(await exchange.reply.body()) == size
        exchange.close()
        await sent.wait()


async def test_a_body_that_is_too_large_is_given_up() -> None:
    answer = HEAD + b"content-length: 99\r\n\r\n" + b"x" * 99
    async with talking(saying(answer, answer)) as (pool, raw):
        with pytest.raises(BrokenError, match="too large"):
            await ask(pool, most=50)
        assert await ask(pool) == (200, b"x" * 99)
    assert raw.connections == 1


async def test_what_has_come_can_be_read_when_the_connection_has_ended() -> None:
    async def script(reader: Reader, writer: Writer) -> None:
        await read_head(reader)
        writer.write(HEAD + b"content-length: 9000000\r\n\r\n" + b"x" * 4_000_000)
        await reader.read()

    async with talking(script) as (pool, _):
        exchange = await pool.exchange("GET", "/mcp", {})
        await until(lambda: exchange.reply.is_full)
        await pool.close()
        assert len(await exchange.reply.piece()) > 0
        with pytest.raises(BrokenError):
            await exchange.reply.body()
        exchange.close()
        exchange.close()


async def test_an_exchange_that_is_left_early_takes_its_connection_with_it() -> None:
    async def script(reader: Reader, writer: Writer) -> None:
        await read_head(reader)
        writer.write(HEAD + b"content-length: 9\r\n\r\n{}")
        await reader.read()

    async with talking(script) as (pool, raw):
        for _ in range(2):
            exchange = await pool.exchange("GET", "/mcp", {})
            assert await exchange.reply.piece() == b"{}"
            exchange.close()
            assert not exchange.connection.is_open
    assert raw.connections == 2


async def test_a_connection_that_was_idle_for_long_is_not_trusted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with talking(saying(OK, OK)) as (pool, raw):
        assert await ask(pool) == (200, b"{}")
        monkeypatch.setattr(pool_module, "_IDLE_SECONDS", 0.0)
        assert await ask(pool) == (200, b"{}")
    assert raw.connections == 2


async def test_one_that_the_server_has_ended_meanwhile_is_not_used() -> None:
    async with talking(saying(OK, is_kept=False)) as (pool, raw):
        exchange: Exchange = await pool.exchange("POST", "/mcp", {}, b"{}")
        assert await exchange.reply.body() == b"{}"
        exchange.close()
        await until(lambda: not exchange.connection.is_open)
        assert await ask(pool) == (200, b"{}")
    assert raw.connections == 2


@pytest.mark.parametrize("value", ["a\nb", "a\r\nevil: 1", "a\rb", "a\0b"])
async def test_a_header_cannot_begin_another(value: str) -> None:
    async with talking(saying(OK)) as (pool, raw):
        with pytest.raises(NotSentError, match="line break"):
            await pool.exchange("POST", "/mcp", {"x-name": value})
        assert await ask(pool) == (200, b"{}")
    assert raw.connections == 1
