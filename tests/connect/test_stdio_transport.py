"""Excess messages of a server over its pipe."""

import asyncio
import json
from collections.abc import Coroutine
from typing import Any

import pytest

from sayso.connect.inbox import Inbox
from sayso.connect.message import Message, read_object
from sayso.connect.stdio_transport import StdioTransport
from sayso.slices import LARGE_BYTES

pytestmark = pytest.mark.anyio

LONG = 30.0


def spawn(work: Coroutine[Any, Any, None]) -> "asyncio.Task[None]":
    return asyncio.ensure_future(work)


async def asked(told: list[float], answers: list[str]) -> Message:
    """The response to a request whose server tells 1,000 steps and gives these answers at once."""

    async def send(line: bytes) -> None:
        number = json.loads(line)["id"]
        for step in range(1000):
            params = {"progressToken": number, "progress": step}
            await receive(method="notifications/progress", params=params)
        for one in answers:
            await receive(id=number, result={"said": one})

    async def receive(**message: Any) -> None:
        await peer.receive(json.dumps({"jsonrpc": "2.0", **message}).encode())

    async def tell(done: float, _total: float | None, _text: str | None) -> None:
        told.append(done)

    peer = StdioTransport(send, Inbox(), spawn)
    return await peer.request("tools/call", {}, timeout=LONG, progress=tell)


async def test_of_too_many_steps_the_last_are_told_and_the_answer_is_there() -> None:
    told: list[float] = []

    message = await asked(told, ["done"])

    assert read_object(message.result) == {"said": "done"}
    assert told == [*range(1000 - 255, 1000)]


async def test_of_many_answers_the_first_counts() -> None:
    message = await asked([], [f"answer {number}" for number in range(1000)])

    assert read_object(message.result) == {"said": "answer 0"}


async def test_a_request_of_any_size_is_sent_once_and_answered() -> None:
    sent: list[bytes] = []

    async def send(line: bytes) -> None:
        sent.append(line)
        message = {"jsonrpc": "2.0", "id": json.loads(line)["id"], "result": {"size": len(line)}}
        await peer.receive(json.dumps(message).encode())

    peer = StdioTransport(send, Inbox(), spawn)
    for size in (1, LARGE_BYTES):
        message = await peer.request("tools/call", {"text": "x" * size}, timeout=LONG)
        assert json.loads(sent[-1])["params"] == {"text": "x" * size}
        assert read_object(message.result) == {"size": len(sent[-1])}
    assert len(sent) == 2
