"""Connections from a sandbox (a box) to the loopback addresses that it may reach.

sayso first creates listening sockets in the box's network namespace. bubblewrap waits for that
before it starts the server (`--block-fd`). sayso serves the sockets from outside, so that the box
has no process of sayso.
"""

import asyncio
import contextlib
import os
import socket
import subprocess
import sys
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from typing import Final

import anyio
import msgspec

from sayso.errors import UsageError
from sayso.sandbox import namespace_sockets

_PIECE: Final = 65536
_SECONDS: Final = 10
_MOST_AT_ONCE: Final = 100
"""The maximum number of open connections to one address."""


@dataclass(frozen=True, slots=True)
class Gate:
    """Two pipes: bubblewrap reports the box's process in `info`, and waits for a byte in `go`."""

    info: Path
    go: Path

    def words(self) -> tuple[str, ...]:
        """Return bubblewrap's options for the pipes."""
        return ("--info-fd", "8", "--block-fd", "7")

    def redirections(self) -> str:
        """Return the shell's redirections. `<>` opens a pipe for both ways, so it never blocks."""
        return f"8<>{self.info} 7<>{self.go}"


class _Info(msgspec.Struct):
    """bubblewrap's report of the box."""

    pid: int = msgspec.field(name="child-pid")


def make_gate(folder: Path) -> Gate:
    """Create the pipes in a folder."""
    gate = Gate(folder / "info", folder / "go")
    os.mkfifo(gate.info, 0o600)
    os.mkfifo(gate.go, 0o600)
    return gate


def check_address(address: str) -> str:
    """Normalise an allowed address. Raises `UsageError` unless it is on loopback."""
    host, _, port = address.rpartition(":")
    if host == "localhost":
        host = "127.0.0.1"
    plain = host.strip("[]")
    with contextlib.suppress(ValueError):
        parsed = ip_address(plain)
        if parsed.is_loopback and 0 < int(port) < 65536:  # noqa: PLR2004 - ports end there
            return {4: f"{plain}:{port}", 6: f"[{plain}]:{port}"}[parsed.version]
    what = "a sandboxed server may reach only loopback addresses, each with a port"
    raise UsageError(what, where=address, fix="Write an address such as 127.0.0.1:8080.")


async def forward(gate: Gate, addresses: Sequence[str]) -> None:
    """Serve boxes at the gate, one at a time, until cancelled.

    Raises `OSError` if a box's network namespace cannot be entered.
    """
    with _opened(gate.info) as info, _opened(gate.go) as go:
        pid = await _read_pid(info)
        while True:
            sockets = await anyio.to_thread.run_sync(_listen_in, pid, addresses)
            async with anyio.create_task_group() as group:
                for listener, address in zip(sockets, addresses, strict=True):
                    group.start_soon(_accept, listener, address)
                os.write(go, b".")
                pid = await _read_pid(info)
                group.cancel_scope.cancel()


@contextlib.contextmanager
def _opened(pipe: Path) -> Generator[int]:
    fd = os.open(pipe, os.O_RDWR | os.O_NONBLOCK)
    try:
        yield fd
    finally:
        os.close(fd)


async def _read_pid(info: int) -> int:
    text = b""
    while not text.rstrip().endswith(b"}"):
        await anyio.wait_readable(info)
        text += os.read(info, _PIECE)
    return msgspec.json.decode(text, type=_Info).pid


def _listen_in(pid: int, addresses: Sequence[str]) -> list[socket.socket]:
    mine, theirs = socket.socketpair()
    words = [sys.executable, "-I", "-S", namespace_sockets.__file__, str(theirs.fileno()), str(pid)]
    with mine, theirs:
        mine.settimeout(_SECONDS)
        done = subprocess.run(  # noqa: S603 - sayso's own words
            [*words, *addresses],
            pass_fds=[theirs.fileno()],
            capture_output=True,
            timeout=_SECONDS,
            check=False,
        )
        if done.returncode != 0:
            lines = done.stderr.decode(errors="replace").strip().splitlines() or ["no reason"]
            raise OSError(f"sayso cannot enter the sandbox's network namespace: {lines[-1]}")
        _, fds, _, _ = socket.recv_fds(mine, 1, len(addresses))
    return [socket.socket(fileno=fd) for fd in fds]


async def _accept(listening: socket.socket, address: str) -> None:
    listening.settimeout(0)
    slots = anyio.Semaphore(_MOST_AT_ONCE)
    with listening:
        async with anyio.create_task_group() as group:
            while True:
                # Beyond the maximum, new connections wait here.
                await slots.acquire()
                near, _ = await asyncio.get_running_loop().sock_accept(listening)
                group.start_soon(_join, near, address, slots)


async def _join(near: socket.socket, address: str, slots: anyio.Semaphore) -> None:
    host, _, port = address.rpartition(":")
    family = socket.AF_INET6 if host.startswith("[") else socket.AF_INET
    with near, socket.socket(family) as far, contextlib.suppress(OSError):
        far.settimeout(0)
        await asyncio.get_running_loop().sock_connect(far, (host.strip("[]"), int(port)))
        async with anyio.create_task_group() as group:
            group.start_soon(_pump, near, far)
            group.start_soon(_pump, far, near)
    slots.release()


async def _pump(source: socket.socket, target: socket.socket) -> None:
    loop = asyncio.get_running_loop()
    with contextlib.suppress(OSError):
        while piece := await loop.sock_recv(source, _PIECE):
            await loop.sock_sendall(target, piece)
    with contextlib.suppress(OSError):
        target.shutdown(socket.SHUT_WR)
