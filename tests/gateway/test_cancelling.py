"""Responses to cancelled requests: by the specification there are none.

A POST of the handshake eras has to end, though: by a stream that ends.
"""

import json
from collections.abc import AsyncGenerator, AsyncIterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from tests.connect.servers.web import MODERN, OLD
from tests.connect.serving import faulty, raw_client, until, until_there
from tests.gateway.serving import Served, serve

from sayso.gateway import make_dispatcher
from sayso.gateway.frontends.batch import BATCHING
from sayso.gateway.frontends.stdio import StdioFrontend
from sayso.policy import LOCAL, Principal

pytestmark = pytest.mark.anyio


@pytest.fixture
async def served(tmp_path: Path) -> AsyncGenerator[Served]:
    async with serve(faulty("plain", "s"), store=tmp_path / "a.db") as served:
        yield served


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "log"


def hang(log: Path, number: int, **more: Any) -> dict[str, Any]:
    params = {"name": "s__add_hang", "arguments": {"log": str(log)}, **more}
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}


def gone(number: int) -> dict[str, Any]:
    params = {"requestId": number}
    return {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}


def ping(number: int) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "method": "ping"}


async def cancelled(served: Served, log: Path, accept: str) -> Any:
    """The response to a call over HTTP that its client cancels."""
    responses: list[Any] = []
    async with raw_client(served.url, OLD) as client, anyio.create_task_group() as group:

        async def call() -> None:
            body = json.dumps(hang(log, 5))
            responses.append(await client.post(body, accept=accept, **client.session))

        group.start_soon(call)
        await until_there(log, "hang")
        await client.tell(method="notifications/cancelled", params={"requestId": 5})
        await until(lambda: bool(responses))
    return responses[0]


async def test_over_http_the_stream_ends(served: Served, log: Path) -> None:
    response = await cancelled(served, log, "application/json, text/event-stream")

    assert response.headers["content-type"] == "text/event-stream"
    assert response.text == ""


async def test_who_takes_no_stream_gets_an_error(served: Served, log: Path) -> None:
    response = await cancelled(served, log, "application/json")

    assert response.json() == {
        "jsonrpc": "2.0",
        "id": 5,
        "error": {"code": -32800, "message": "Request cancelled"},
    }


class Pipe:
    """The door over stdio, line by line."""

    def __init__(self, served: Served) -> None:
        self.written: list[Any] = []
        self._served = served

    async def run(self, lines: AsyncIterator[Any]) -> None:
        async def write(body: bytes) -> None:
            self.written.append(json.loads(body))

        async def said() -> AsyncIterator[bytes]:
            async for line in lines:
                yield json.dumps(line).encode()

        await StdioFrontend(make_dispatcher(self._served.gateway), Principal(LOCAL), write).run(
            said()
        )


def hello(version: str) -> dict[str, Any]:
    params = {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "amy"}}
    return {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}


META = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientCapabilities": {},
}


@pytest.mark.parametrize("meta", [{}, {"_meta": META}], ids=["legacy", "modern"])
async def test_over_stdio_nothing_is_said(served: Served, log: Path, meta: Any) -> None:
    pipe = Pipe(served)

    async def lines() -> AsyncIterator[Any]:
        yield hello(OLD)
        yield hang(log, 1, **meta)
        await until_there(log, "hang")
        yield gone(1)
        await until_there(log, "cancelled")
        yield ping(2)
        await until(lambda: any(one["id"] == 2 for one in pipe.written))

    await pipe.run(lines())

    assert [one["id"] for one in pipe.written] == [0, 2]


async def test_in_a_batch_over_stdio_the_others_are_answered(served: Served, log: Path) -> None:
    pipe = Pipe(served)

    async def lines() -> AsyncIterator[Any]:
        yield hello(BATCHING)
        await until(lambda: bool(pipe.written))
        yield [hang(log, 1), ping(2)]
        await until_there(log, "hang")
        yield gone(1)
        await until(lambda: len(pipe.written) == 2)
        yield [hang(log, 3)]
        await until(lambda: log.read_text().count("hang") == 2)
        yield gone(3)
        await until(lambda: log.read_text().count("cancelled") == 2)
        yield ping(4)
        await until(lambda: len(pipe.written) == 3)

    await pipe.run(lines())

    _, answers, last = pipe.written
    assert [one["id"] for one in answers] == [2]
    assert last["id"] == 4
