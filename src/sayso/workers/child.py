"""The process of a worker: it reads jobs from a socket, and dies when a job exceeds its limits.

A job is a generator function, named as `module:function`. Each part that it yields is sent at
once. Arguments come from the parent process in the form of `marshal`; bytes go back, which the
parent reads as data. The kernel counts processor time (`setitimer`). So even compiled code that
never returns ends, also after the parent died, and a job does not end because others are busy.
"""

import importlib
import marshal
import os
import signal
import socket
import struct
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any, Final

HEADER: Final = struct.Struct("!BI")
"""The header of each message from a worker: its kind, and how many bytes follow."""

REQUEST: Final = struct.Struct("!IdQ")
"""The header of each request: how many bytes follow, its seconds, and its bytes of memory."""

NICE: Final = 5

# The kinds of messages:
PART = 0  # a part that the job yielded
END = 1  # the job has ended
FAILED = 2  # the job has failed

Job = Callable[..., Iterable[bytes]]


def main(descriptor: int) -> None:
    """Do jobs until the other end of the socket is closed."""
    # Only closing the socket ends a worker: a signal to the process group is for the parent.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    # If processors are short, the event loop goes first.
    os.nice(NICE)
    with socket.socket(fileno=descriptor) as connection, connection.makefile("rb") as stream:
        while True:
            header = stream.read(REQUEST.size)
            if len(header) < REQUEST.size:
                return
            size, seconds, memory = REQUEST.unpack(header)
            name, arguments = marshal.loads(stream.read(size))  # noqa: S302 - it comes from the parent process alone
            # Import before setting the limits, so that the import does not count as the job's work.
            module, _, function = name.partition(":")
            job: Job = getattr(importlib.import_module(module), function)
            allow_seconds(seconds)
            _allow_memory(memory)
            _do(connection, job, arguments)
            allow_seconds(0)


def allow_seconds(seconds: float) -> None:
    """End this process after this many seconds of processor time; 0 means never."""
    signal.setitimer(signal.ITIMER_PROF, seconds)


def _do(connection: socket.socket, job: Job, arguments: tuple[Any, ...]) -> None:
    try:
        for part in job(*arguments):
            _send(connection, PART, part)
        _send(connection, END, b"")
    except MemoryError:
        os._exit(1)
    except Exception as error:  # noqa: BLE001 - whatever a job raises, its caller learns that it failed
        _send(connection, FAILED, type(error).__name__.encode())


def _send(connection: socket.socket, kind: int, body: bytes) -> None:
    connection.sendall(HEADER.pack(kind, len(body)))
    connection.sendall(body)


def _allow_memory(size: int) -> None:
    """Let this process grow by `size` bytes. A job that needs more ends it. Linux only."""
    import resource  # noqa: PLC0415 - not every system has it

    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        with open("/proc/self/statm", encoding="ascii") as statm:  # noqa: PTH123 - read for each job
            pages = int(statm.read().split()[0])
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + size, hard))


def encoded(value: Any) -> bytes:
    """Return a JSON value as bytes, even if its texts have lone surrogates."""
    import json  # noqa: PLC0415 - imported by the jobs that need it

    return json.dumps(value).encode()
