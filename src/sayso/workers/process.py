"""A worker process, from the side of its parent."""

import asyncio
import json
import socket
import subprocess
import sys
import weakref
from dataclasses import dataclass
from typing import Final

from sayso.workers.child import END, HEADER, PART, REQUEST

MAX_OUTPUT_BYTES: Final = 64 * 1024 * 1024
_START_SECONDS: Final = 10.0
_WALL_FACTOR: Final = 4
"""The time limit of a job is this many times its processor time, plus `_START_SECONDS`."""

_BOOT: Final = (
    "import json, sys\n"
    "sys.path[:] = json.loads(sys.argv[2])\n"
    "from sayso.workers.child import main\n"
    "main(int(sys.argv[1]))\n"
)


@dataclass(frozen=True, slots=True)
class Output:
    """The parts that a job sent before it ended; `is_complete` is false if a limit stopped it."""

    parts: tuple[bytes, ...] = ()
    is_complete: bool = False

    @property
    def last(self) -> bytes | None:
        return self.parts[-1] if self.parts else None


class Worker:
    """A process that does one job at a time. It ends with this object, or at a job's limit.

    Raises `OSError` if no process can be started.
    """

    def __init__(self) -> None:
        ours, theirs = socket.socketpair()
        try:
            ours.settimeout(0)
            words = [sys.executable, "-c", _BOOT, str(theirs.fileno()), json.dumps(sys.path)]
            quiet = subprocess.DEVNULL
            process = subprocess.Popen(  # noqa: S603 - this very Python, and code of ours
                words, stdin=quiet, stdout=quiet, stderr=quiet, pass_fds=[theirs.fileno()]
            )
        except BaseException:
            ours.close()
            raise
        finally:
            theirs.close()
        self._socket = ours
        self._finalizer = weakref.finalize(self, _end, ours, process)
        self.pid = process.pid

    @property
    def is_alive(self) -> bool:
        return self._finalizer.alive

    def end(self) -> None:
        self._finalizer()

    async def run(self, request: bytes, *, seconds: float, memory: int) -> Output:
        """Do one job and return what it sent. A job that exceeds a limit ends this worker.

        `seconds` are processor time. Raises `RuntimeError` if the job itself failed. When
        cancelled, the worker ends.
        """
        parts: list[bytes] = []
        is_complete = False
        try:
            async with asyncio.timeout(_WALL_FACTOR * seconds + _START_SECONDS):
                loop = asyncio.get_running_loop()
                header = REQUEST.pack(len(request), seconds, memory)
                await loop.sock_sendall(self._socket, header)
                await loop.sock_sendall(self._socket, request)
                await self._receive(parts)
                is_complete = True
        except (TimeoutError, OSError, EOFError):
            pass
        finally:
            if not is_complete:
                self.end()
        return Output(tuple(parts), is_complete)

    async def _receive(self, parts: list[bytes]) -> None:
        remaining = MAX_OUTPUT_BYTES
        while True:
            kind, size = HEADER.unpack(await self._read(HEADER.size))
            remaining -= size
            if remaining < 0:
                raise EOFError
            body = await self._read(size)
            if kind == END:
                return
            if kind != PART:
                message = f"a job of a worker failed: {body.decode(errors='replace')}"
                raise RuntimeError(message)
            parts.append(body)

    async def _read(self, size: int) -> bytes:
        loop = asyncio.get_running_loop()
        pieces: list[bytes] = []
        while size:
            piece = await loop.sock_recv(self._socket, min(size, 1 << 18))
            if not piece:
                raise EOFError
            pieces.append(piece)
            size -= len(piece)
        return b"".join(pieces)


def _end(connection: socket.socket, process: "subprocess.Popen[bytes]") -> None:
    connection.close()
    process.kill()
    process.wait()
