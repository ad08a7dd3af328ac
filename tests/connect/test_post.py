"""Posts of JSON to an address that no error may tell."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from tests.connect.servers.raw import OK, certify, saying, serve_raw

from sayso.connect import post_json
from sayso.errors import TimedOutError, UnreachableError

pytestmark = pytest.mark.anyio


@asynccontextmanager
async def server(answer: bytes | None) -> AsyncGenerator[tuple[str, list[bytes]]]:
    """A server that answers every request with the same bytes, or never."""
    heard: list[bytes] = []

    async def take(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heard.append(await reader.readuntil(b"\r\n\r\n") + await reader.read(7))
        if answer is None:
            await reader.read()
        else:
            writer.write(answer)
            await writer.drain()
        writer.close()

    listener = await asyncio.start_server(take, "127.0.0.1", 0)
    async with listener:
        port = listener.sockets[0].getsockname()[1]
        yield f"127.0.0.1:{port}/hook/secret", heard


async def test_a_document_is_posted_with_the_names_of_the_address() -> None:
    async with server(b"HTTP/1.1 204 No Content\r\n\r\n") as (place, heard):
        await post_json(f"http://amy:pa%20ss@{place}?x=1", {"a": 1}, seconds=60)

    head = heard[0].decode()
    assert head.startswith("POST /hook/secret?x=1 HTTP/1.1\r\n")
    assert "authorization: Basic YW15OnBhIHNz\r\n" in head
    assert "content-type: application/json\r\n" in head
    assert head.endswith('\r\n\r\n{"a":1}')


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (b"HTTP/1.1 302 Found\r\nlocation: /x\r\n\r\n", "HTTP 302"),
        (b"HTTP/1.1 500 Error\r\n\r\n", "HTTP 500"),
        (b"nothing of HTTP\r\n\r\n", "the connection broke"),
        (b"", "the connection broke"),
    ],
)
async def test_anything_but_a_success_is_an_error_without_the_address(
    answer: bytes, expected: str
) -> None:
    async with server(answer) as (place, heard):
        with pytest.raises(UnreachableError) as caught:
            await post_json(f"http://{place}", {"a": 1}, seconds=60)

    assert str(caught.value) == expected
    assert caught.value.__cause__ is None
    assert len(heard) == 1


async def test_a_server_that_never_answers_is_given_up() -> None:
    async with server(None) as (place, _):
        with pytest.raises(TimedOutError, match=r"no answer within 0\.1 s"):
            await post_json(f"http://{place}", {"a": 1}, seconds=0.1)


async def test_a_server_that_nobody_vouches_for_gets_nothing(tmp_path: Path) -> None:
    async with serve_raw(saying(OK), certify(tmp_path).context) as raw:
        with pytest.raises(UnreachableError, match="the connection could not be opened"):
            await post_json(raw.secure_url, {"a": 1}, seconds=60)
