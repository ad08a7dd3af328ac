"""A server's process, and the lines that it reads and writes.

When a server ends, even by itself, sayso ends its process group and so all its children.
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
"""Maximum bytes of a line, so that a line without an end does not fill the memory."""

_MOST_AHEAD: Final = 512 * 1024
"""Buffer limit: asyncio buffers up to twice this many bytes, and the rest waits in the pipe."""

_POLL_SECONDS: Final = 0.01

Say = Callable[[bytes], Awaitable[None]]


@contextlib.asynccontextmanager
async def start_process(
    target: CommandTarget,
) -> AsyncGenerator[tuple[asyncio.StreamReader, asyncio.StreamReader, Say]]:
    """Start the server; yield its stdout, its stderr, and a function that writes a line to it.

    Enter and leave in one task. Read both outputs, or the process blocks. Raises `OSError` if the
    command cannot be run. On leaving, also when cancelled, the process gets time to exit. Then its
    whole process group is ended.
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

    async def write_line(line: bytes) -> None:
        # The reader notices a closed pipe. uvloop raises a RuntimeError for it.
        with contextlib.suppress(OSError, RuntimeError):
            stdin.write(line + b"\n")
            await stdin.drain()

    try:
        yield process.stdout, process.stderr, write_line
    finally:
        with anyio.CancelScope(shield=True):
            await _end(process)


async def lines_of(stdout: asyncio.StreamReader) -> AsyncGenerator[bytes]:
    """Yield each line until the end of the output, or until a line is too long."""
    pieces: list[bytes] = []
    with contextlib.suppress(asyncio.IncompleteReadError, OSError):
        while sum(map(len, pieces)) <= _LARGEST_LINE:
            try:
                pieces.append(await stdout.readuntil(b"\n"))
            except asyncio.LimitOverrunError as error:
                pieces.append(await stdout.readexactly(error.consumed))
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
    # Close the pipes, because children of the process may keep them open.
    process._transport.close()  # noqa: SLF001  # pyright: ignore - asyncio has no other way


async def _wait(process: Process) -> None:
    """Wait briefly for the process, but not for its pipes, which children may keep open."""
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
