"""Clients that do not keep up: requests that never end, heads without measure, answers unread."""

import asyncio
import socket
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager

import pytest
import uvicorn
from starlette.types import Receive, Scope, Send
from tests.attacks.serving import send_raw
from tests.cli.running import python, started
from tests.gateway.serving import running

from sayso.gateway.frontends import timeouts

pytestmark = pytest.mark.anyio

LARGE = 32 * 1024 * 1024
"""More than the kernel takes for a client that reads nothing."""

HEAD = b"POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n"


class App:
    """Answers when it is told to, and writes down how each request ended."""

    def __init__(self) -> None:
        self.ended: list[str] = []
        self.go_on = asyncio.Event()
        self.size = 2
        self.is_hasty = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        while not self.is_hasty:
            part = await receive()
            if part["type"] == "http.disconnect":
                self.ended.append("left")
                return
            if not part.get("more_body"):
                break
        await self.go_on.wait()
        length = (b"content-length", str(self.size).encode())
        await send({"type": "http.response.start", "status": 200, "headers": [length]})
        for _ in range(0, self.size, 65_536):
            piece = b"x" * min(self.size, 65_536)
            await send({"type": "http.response.body", "body": piece, "more_body": True})
        await send({"type": "http.response.body", "body": b""})
        left = asyncio.ensure_future(receive())
        self.ended.append("answered")
        left.cancel()


@pytest.fixture
def app() -> App:
    found = App()
    found.go_on.set()
    return found


@pytest.fixture(autouse=True)
def hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    """The limits as they are, but in tenths of seconds."""
    monkeypatch.setattr(timeouts, "HEAD_SECONDS", 0.3)
    monkeypatch.setattr(timeouts, "BODY_SECONDS", 0.6)
    monkeypatch.setattr(timeouts, "TAKE_SECONDS", 0.5)


@asynccontextmanager
async def at(app: App, sends: int | None = None) -> AsyncGenerator[int]:
    """Where it is served; the kernel holds `sends` bytes of an answer, if that is said."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        if sends is not None:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, sends)
        config = uvicorn.Config(
            app, http=timeouts.PacedProtocol, log_level="error", timeout_graceful_shutdown=1
        )
        async with running(uvicorn.Server(config), listener):
            yield listener.getsockname()[1]


async def told(port: int, *pieces: bytes, pause: float = 0.0) -> tuple[bytes, float]:
    """What comes back before the other side hangs up, and after how many seconds."""
    loop = asyncio.get_running_loop()
    began = loop.time()
    reader, writer = await asyncio.open_connection("127.0.0.1", port)

    async def say() -> None:
        for piece in pieces:
            writer.write(piece)
            await asyncio.sleep(pause)

    saying = asyncio.ensure_future(say())
    try:
        async with asyncio.timeout(10):
            found = await reader.read(1_000_000)
            while piece := await reader.read(1_000_000):
                found += piece
    except ConnectionError:
        found = b""
    finally:
        saying.cancel()
        writer.close()
    return found, loop.time() - began


DRIPS: dict[str, Callable[[], list[bytes]]] = {
    "nothing at all": list,
    "half a head": lambda: [HEAD],
    "a head byte by byte": lambda: [bytes([one]) for one in HEAD * 9],
    "blank lines": lambda: [b"\r\n"] * 100,
    "half a body": lambda: [HEAD + b"\r\nabc"],
    "a body byte by byte": lambda: [HEAD.replace(b": 9", b": 999") + b"\r\n", *[b"x"] * 100],
    "chunks without end": lambda: [
        b"POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n",
        *[b"1\r\nx\r\n"] * 100,
    ],
    "trailers without end": lambda: [
        b"POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n0\r\n",
        *[b"a: b\r\n"] * 100,
    ],
}


@pytest.mark.parametrize("what", DRIPS)
async def test_a_request_that_does_not_end_is_ended(app: App, what: str) -> None:
    async with at(app) as port:
        found, seconds = await told(port, *DRIPS[what](), pause=0.05)
    assert found.startswith(b"HTTP/1.1 408 ")
    assert b"connection: close" in found
    assert seconds < 2
    assert "answered" not in app.ended


async def test_a_body_that_drips_on_after_its_answer_holds_no_connection(app: App) -> None:
    app.is_hasty = True
    async with at(app) as port:
        drip = [HEAD.replace(b": 9", b": 999") + b"\r\n", *[b"x"] * 100]
        found, seconds = await told(port, *drip, pause=0.05)
    assert found.startswith(b"HTTP/1.1 200 ")
    assert seconds < 2


async def test_blank_lines_after_an_answer_hold_no_connection(app: App) -> None:
    async with at(app) as port:
        found, seconds = await told(port, HEAD + b"\r\n123456789", *[b"\r\n"] * 100, pause=0.05)
    assert found.startswith(b"HTTP/1.1 200 ")
    assert seconds < 2


@pytest.mark.parametrize("line", [b"x: " + b"y" * 900 + b"\r\n", b"y" * 900])
async def test_a_head_without_measure_is_refused(app: App, line: bytes) -> None:
    async with at(app) as port:
        found, _ = await told(port, HEAD, *[line] * (timeouts.MAX_HEAD_BYTES // len(line) + 1))
    assert found.startswith(b"HTTP/1.1 431 ")
    assert not app.ended


async def test_whoever_is_slow_but_in_time_is_answered_again_and_again(app: App) -> None:
    body = HEAD + b"\r\n123456789"
    pieces = [body[:20], body[20:50], body[50:]] * 4
    async with at(app) as port:
        found, _ = await told(port, *pieces, HEAD, pause=0.12)
    assert found.count(b"HTTP/1.1 200 ") == 4
    assert app.ended == ["answered"] * 4


async def test_a_call_that_takes_long_is_not_ended_by_the_next_request_behind_it(app: App) -> None:
    app.go_on.clear()
    async with at(app) as port:
        waiting = asyncio.ensure_future(told(port, HEAD + b"\r\n123456789", HEAD))
        await asyncio.sleep(1)
        assert not waiting.done()
        app.go_on.set()
        found, _ = await waiting
    assert found.startswith(b"HTTP/1.1 200 ")
    assert app.ended == ["answered"]
    assert found.count(b"HTTP/1.1 408 ") == 1, "the second request, which never came"


@pytest.mark.parametrize("size", [LARGE, 60_000])
async def test_an_answer_that_nobody_reads_is_not_held(app: App, size: int) -> None:
    """The smaller one is all in a buffer before anybody could wait for it to be taken."""
    app.size = size
    with socket.socket() as unread:
        unread.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
        async with at(app, sends=8_192) as port:
            unread.connect(("127.0.0.1", port))
            unread.sendall(HEAD + b"\r\n123456789")
            await asyncio.sleep(1.5)
            assert app.ended == ["answered"]
            unread.settimeout(1)
            got = 0
            while piece := unread.recv(1_000_000):
                got += len(piece)
    assert 0 < got < size


async def test_an_answer_that_is_read_slowly_comes_whole(app: App) -> None:
    app.size = LARGE
    async with at(app) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=65_536)
        writer.write(HEAD.replace(b"host", b"connection: close\r\nhost") + b"\r\n123456789")
        got = 0
        while piece := await reader.read(1_000_000):
            got += len(piece)
            await asyncio.sleep(0.02)
        writer.close()
    assert got > LARGE


@pytest.mark.process
async def test_the_gateway_has_these_limits(store: str) -> None:
    words = ("gateway", "--port", "0", "--json", "--store", store, "--")
    with started(*words, *python("plain")) as run:
        port = int(run.addresses["mcp"].split(":")[2].split("/")[0])
        answers = await send_raw(port, HEAD + b"x" * timeouts.MAX_HEAD_BYTES)
        assert [one.status for one in answers] == [431]
