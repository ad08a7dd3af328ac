"""Standard input and output as lines, for a client that has started sayso."""

import asyncio
import contextlib
import os
import sys
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from typing import Any, Final, cast

from sayso.connect import in_one_line

_LARGEST_LINE: Final = 4 * 1024 * 1024

Write = Callable[[bytes], Awaitable[None]]


@contextlib.asynccontextmanager
async def standard_pipes() -> AsyncGenerator[tuple[AsyncIterator[bytes], Write]]:
    """Yield the lines of standard input, and a function that writes one to standard output.

    Everything else in this process that prints to standard output writes to standard error. Lines
    of more than 4 MiB end the conversation.
    """
    loop = asyncio.get_running_loop()
    said = os.fdopen(os.dup(0), "rb", 0)
    sent = os.fdopen(os.dup(1), "wb", 0)
    os.dup2(2, 1)
    sys.stdout.flush()
    reader = asyncio.StreamReader(_LARGEST_LINE)
    reading, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), said)
    flow = cast("Any", asyncio.streams.FlowControlMixin)
    transport, protocol = await loop.connect_write_pipe(flow, sent)
    writer = asyncio.StreamWriter(transport, protocol, None, loop)
    turn = asyncio.Lock()

    async def write(body: bytes) -> None:
        async with turn:
            with contextlib.suppress(ConnectionError):
                writer.write(in_one_line(body) + b"\n")
                await writer.drain()

    try:
        yield _lines(reader), write
    finally:
        reading.close()
        writer.close()


async def _lines(reader: asyncio.StreamReader) -> AsyncIterator[bytes]:
    with contextlib.suppress(asyncio.IncompleteReadError, asyncio.LimitOverrunError):
        while True:
            line = (await reader.readuntil(b"\n")).strip()
            if line:
                yield line
