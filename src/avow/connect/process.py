"""A server's process and the messages over its pipes, one JSON document a line.

The SDK's own stdio client ends the process group only of a server that does not end by itself,
and tells nobody which process it started. Here whatever a server has started ends with it.
"""

import contextlib
import os
import signal
import subprocess
from collections.abc import AsyncGenerator
from typing import Final, TextIO

import anyio
from anyio.abc import Process
from anyio.streams.buffered import BufferedByteReceiveStream
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter

from avow.connect.environment import child_environment
from avow.connect.kinds import CommandTarget

_GRACE_SECONDS: Final = 2.0
"""How long a server may take to end by itself, and again after it was told to (MCP, shutdown)."""

_LARGEST_LINE: Final = 64 * 1024 * 1024
"""In bytes; a line without an end would else fill the memory."""

_POLL_SECONDS: Final = 0.01

Received = SessionMessage | Exception
Streams = tuple[MemoryObjectReceiveStream[Received], MemoryObjectSendStream[SessionMessage]]


@contextlib.asynccontextmanager
async def start_process(target: CommandTarget, stderr: TextIO) -> AsyncGenerator[Streams]:
    """Start the server; give what it says and what is said to it. Enter and leave in one task.

    What it says is a message, or an exception for a line that is none. Its stream ends with the
    process. Raises `OSError` where the command cannot be run. On leaving, also when cancelled, the
    process is given time to end, and then its whole process group is ended.
    """
    process = await anyio.open_process(
        [target.command, *target.args],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=stderr,
        env=child_environment(target.env),
        cwd=target.cwd,
        start_new_session=True,
    )
    said, received = anyio.create_memory_object_stream[Received](0)
    sent, to_say = anyio.create_memory_object_stream[SessionMessage](0)
    try:
        async with anyio.create_task_group() as group:
            group.start_soon(_listen, process, said)
            group.start_soon(_speak, process, to_say, said)
            try:
                yield received, sent
            finally:
                with anyio.CancelScope(shield=True):
                    await _end(process)
                group.cancel_scope.cancel()
    finally:
        for stream in (said, received, sent, to_say):
            stream.close()


async def _listen(process: Process, said: MemoryObjectSendStream[Received]) -> None:
    """Pass on each line of stdout until it ends, or is no line any more."""
    assert process.stdout  # noqa: S101 - it was asked for when the process was started
    lines = BufferedByteReceiveStream(process.stdout)
    with contextlib.suppress(
        anyio.EndOfStream,
        anyio.IncompleteRead,
        anyio.DelimiterNotFound,
        anyio.BrokenResourceError,
        anyio.ClosedResourceError,
    ):
        async with said:
            while True:
                line = await lines.receive_until(b"\n", _LARGEST_LINE)
                await said.send(_parse(line))


def _parse(line: bytes) -> Received:
    """One line as a message; bytes that are not UTF-8 must not end the connection."""
    try:
        text = line.decode(errors="replace")
        return SessionMessage(jsonrpc_message_adapter.validate_json(text, by_name=False))
    except ValueError as error:
        return error


async def _speak(
    process: Process,
    to_say: MemoryObjectReceiveStream[SessionMessage],
    said: MemoryObjectSendStream[Received],
) -> None:
    """Write each message as one line; a pipe that is closed ends the conversation."""
    assert process.stdin  # noqa: S101 - it was asked for when the process was started
    try:
        async with to_say:
            async for one in to_say:
                text = one.message.model_dump_json(by_alias=True, exclude_unset=True)
                await process.stdin.send(text.encode() + b"\n")
    except (anyio.BrokenResourceError, anyio.ClosedResourceError, OSError):
        await said.aclose()


async def _end(process: Process) -> None:
    """Close stdin, wait, then end the process group: first by word, then by force."""
    assert process.stdin  # noqa: S101 - it was asked for when the process was started
    with contextlib.suppress(OSError, anyio.BrokenResourceError, anyio.ClosedResourceError):
        await process.stdin.aclose()
    await _wait(process)
    if _signal_group(process.pid, signal.SIGTERM):
        await _wait_for_group(process.pid)
        _signal_group(process.pid, signal.SIGKILL)
        await _wait(process)
    await process.aclose()


async def _wait(process: Process) -> None:
    """Wait for the end, for a while; not for its pipes, which its children may hold open."""
    with anyio.move_on_after(_GRACE_SECONDS):
        while process.returncode is None:  # noqa: ASYNC110 - there is no event for the end alone
            await anyio.sleep(_POLL_SECONDS)


async def _wait_for_group(group: int) -> None:
    with anyio.move_on_after(_GRACE_SECONDS):
        while _signal_group(group, 0):  # noqa: ASYNC110 - the kernel tells of no group's end
            await anyio.sleep(_POLL_SECONDS)


def _signal_group(group: int, word: int) -> bool:
    """Send a signal to a process group; whether there was anybody left in it."""
    try:
        os.killpg(group, word)
    except (ProcessLookupError, PermissionError):
        return False
    return True
