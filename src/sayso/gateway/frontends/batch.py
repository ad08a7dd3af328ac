"""Batches of messages (MCP 2025-03-26 only)."""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, Final

import msgspec

from sayso.connect import Message, read_message

BATCHING: Final = "2025-03-26"

_MAX_MESSAGES: Final = 100

_parts: Final = msgspec.json.Decoder(list[msgspec.Raw])


def is_batch(body: bytes) -> bool:
    """Return whether a body holds an array."""
    return body.lstrip()[:1] == b"["


def read_batch(body: bytes) -> list[Message]:
    """Read the messages of an array. Raises `ValueError`."""
    try:
        parts = _parts.decode(body)
    except RecursionError:
        raise ValueError("the batch is nested too deeply") from None
    if not 0 < len(parts) <= _MAX_MESSAGES:
        raise ValueError(f"a batch must hold 1 to {_MAX_MESSAGES} messages")
    return [read_message(bytes(part)) for part in parts]


async def answer_batch(
    messages: Sequence[Message], answer: Callable[[Message], Coroutine[Any, Any, bytes | None]]
) -> bytes:
    """Return the answers to all requests in `messages` as a JSON array; `b""` without requests.

    Cancelling this cancels all requests of the batch.
    """
    async with asyncio.TaskGroup() as group:
        answering = [
            group.create_task(answer(message))
            for message in messages
            if message.method is not None and message.id is not None
        ]
    answers = [body for task in answering if (body := task.result())]
    if not answers:
        return b""
    return b"[" + b",".join(answers) + b"]"
