"""Several messages in one, as MCP 2025-03-26 had them and no other version."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Final

import msgspec

from sayso.connect import Message, read_message

BATCHING: Final = "2025-03-26"

_MOST: Final = 100

_parts: Final = msgspec.json.Decoder(list[msgspec.Raw])


def is_batch(body: bytes) -> bool:
    """Whether it holds an array."""
    return body.lstrip()[:1] == b"["


def read_batch(body: bytes) -> list[Message]:
    """The messages of an array. Raises `ValueError` for what is none, or too many."""
    try:
        parts = _parts.decode(body)
    except RecursionError:
        message = "it is nested too deeply"
        raise ValueError(message) from None
    if not 0 < len(parts) <= _MOST:
        message = f"a batch holds 1 to {_MOST} messages"
        raise ValueError(message)
    return [read_message(bytes(part)) for part in parts]


async def answer_batch(
    messages: Sequence[Message], answer: Callable[[Message], Awaitable[bytes | None]]
) -> bytes:
    """The answers to all requests among `messages`, as one array; empty where there are none.

    Cancelling cancels them all.
    """
    wanted = [
        message for message in messages if message.method is not None and message.id is not None
    ]
    async with asyncio.TaskGroup() as group:
        answering = [group.create_task(_one(answer, message)) for message in wanted]
    answers = [body for task in answering if (body := task.result())]
    return b"[" + b",".join(answers) + b"]" if answers else b""


async def _one(
    answer: Callable[[Message], Awaitable[bytes | None]], message: Message
) -> bytes | None:
    return await answer(message)
