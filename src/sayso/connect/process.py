"""A server's process and the lines over its pipes.

All children of a server end with it: its process group is ended even if the server exits by itself.
"""

import asyncio
import contextlib
import os
import signal
import subprocess
from asyncio.subprocess import Process
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import Final

import anyio

from sayso.connect.environment import child_environment
from sayso.connect.kinds import CommandTarget

_GRACE_SECONDS: Final = 2.0
"""The time for a server to exit by itself, and again after SIGTERM (MCP, shutdown)."""

_LARGEST_LINE: Final = 64 * 1024 * 1024
"""In bytes; otherwise a line without an end would fill the memory."""

_MOST_AHEAD: Final = 512 * 1024
"""Half of the bytes that are buffered here; more waits in the server."""

_POLL_SECONDS: Final = 0.01

Say = Callable[[bytes], Awaitable[None]]


@contextlib.asynccontextmanager
async def start_process(
    target: CommandTarget,
) -> AsyncGenerator[tuple[asyncio.StreamReader, asyncio.StreamReader, Say]]:
    """Start the server; yield its stdout, its stderr, and a function that writes a line to it.

    Enter and leave in one task, and read both, or the process blocks. Raises `OSError` if the
    command cannot be run. On leaving, also when cancelled, the process is given time to end, and
    then its whole process group is ended.
    """
    process = await asyncio.create_subprocess_exec(
        target.command,
        *target.args,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=child_environment(target.env),
        cwd=target.cwd,
        start_new_session=True,
        limit=_MOST_AHEAD,
    )
    assert process.stdin  # noqa: S101 - all three are pipes
    assert process.stdout  # noqa: S101
    assert process.stderr  # noqa: S101
    stdin = process.stdin

    async def say(line: bytes) -> None:
        # The reader notices a closed pipe. uvloop raises a RuntimeError for it.
        with contextlib.suppress(OSError, RuntimeError):
            stdin.write(line + b"\n")
            await stdin.drain()

    try:
        yield process.stdout, process.stderr, say
    finally:
        with anyio.CancelScope(shield=True):
            await _end(process)


async def lines_of(said: asyncio.StreamReader) -> AsyncGenerator[bytes]:
    """Yield each line until the end, or until one that does not end."""
    pieces: list[bytes] = []
    with contextlib.suppress(asyncio.IncompleteReadError, OSError):
        while sum(map(len, pieces)) <= _LARGEST_LINE:
            try:
                pieces.append(await said.readuntil(b"\n"))
            except asyncio.LimitOverrunError as error:
                pieces.append(await said.readexactly(error.consumed))
                continue
            yield b"".join(pieces)[:-1]
            pieces.clear()


async def _end(process: Process) -> None:
    """Close stdin, wait, then end the process group: first by SIGTERM, then by SIGKILL."""
    assert process.stdin  # noqa: S101 - it is a pipe
    process.stdin.close()
    await _wait(process)
    if _signal_group(process.pid, signal.SIGTERM):
        await _wait_for_group(process.pid)
        _signal_group(process.pid, signal.SIGKILL)
        await _wait(process)
    # Its children may hold its pipes open, which are no longer read.
    process._transport.close()  # noqa: SLF001  # pyright: ignore - asyncio has no other way


async def _wait(process: Process) -> None:
    """Wait a while for the process, but not for its pipes, which its children may hold open."""
    with anyio.move_on_after(_GRACE_SECONDS):
        while process.returncode is None:  # noqa: ASYNC110 - there is no event for the end alone
            await anyio.sleep(_POLL_SECONDS)


async def _wait_for_group(group: int) -> None:
    with anyio.move_on_after(_GRACE_SECONDS):
        while _signal_group(group, 0):  # noqa: ASYNC110 - the kernel tells of no group's end
            await anyio.sleep(_POLL_SECONDS)


def _signal_group(group: int, word: int) -> bool:
    try:
        os.killpg(group, word)
    except (ProcessLookupError, PermissionError):
        return False
    return True
