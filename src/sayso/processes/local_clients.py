"""The clients that connect to this gateway from its own machine, found by their connections."""

import asyncio
import threading
import time
from collections import OrderedDict
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from sayso.processes.kinship import Clients

LOOK_SECONDS: Final = 5.0
MAX_PORTS: Final = 4096
_PROC: Final = Path("/proc")
_TABLES: Final = ("net/tcp", "net/tcp6")


@dataclass(slots=True)
class LocalClients:
    """The local ports that requests come from, and the processes behind them.

    Looking up processes takes milliseconds. So `note` plans a `look` in a thread for ports that
    were not looked up before, at most once in `LOOK_SECONDS`. Call `look` to do it at once.
    """

    clients: Clients
    port: int
    _known: OrderedDict[int, None] = field(default_factory=OrderedDict[int, None])
    _new: set[int] = field(default_factory=set[int])
    _next: float = float("-inf")
    _is_due: bool = False
    _looking: threading.Lock = field(default_factory=threading.Lock)

    def note(self, scope: Mapping[str, Any]) -> None:
        client = scope.get("client")
        if client is None or client[1] in self._known:
            return
        self._known[client[1]] = None
        if len(self._known) > MAX_PORTS:
            self._known.popitem(last=False)
        self._new.add(client[1])
        if not self._is_due:
            self._is_due = True
            loop = asyncio.get_running_loop()
            pause = max(0.0, self._next - time.monotonic())
            loop.call_later(pause, loop.run_in_executor, None, self.look)

    def look(self) -> None:
        """Remember the processes behind the new ports.

        Waits for a running `look`, so that a decision after this call knows its result. If a `look`
        fails, the next one looks up its ports.
        """
        with self._looking:
            self._is_due = False
            self._next = time.monotonic() + LOOK_SECONDS
            ports = self._new.copy()
            if ports:
                for pid in clients_of(self.port, ports):
                    self.clients.add(pid)
            self._new.difference_update(ports)

    def is_client(self, client_port: int) -> bool:
        """Return whether a client, or a process that it started, is connected from a port."""
        return any(self.clients.has(pid) for pid in clients_of(self.port, {client_port}))


def clients_of(port: int, client_ports: Collection[int], root: Path = _PROC) -> set[int]:
    """Return the processes that are connected to local `port` from one of `client_ports`.

    Processes of other users are not found. Without `/proc`, no process is found.
    """
    sockets = {
        f"socket:[{inode}]"
        for name in _TABLES
        for inode in _inodes(root / name, port, frozenset(client_ports))
    }
    if not sockets:
        return set()
    return {
        int(folder.name)
        for folder in root.iterdir()
        if folder.name.isdigit() and _has_open(folder / "fd", sockets)
    }


def _inodes(path: Path, port: int, client_ports: frozenset[int]) -> list[str]:
    try:
        lines = path.read_text().splitlines()[1:]
    except OSError:
        return []
    return [
        values[9]
        for values in map(str.split, lines)
        if _port(values[2]) == port and _port(values[1]) in client_ports and values[9] != "0"
    ]


def _port(address: str) -> int:
    return int(address.rpartition(":")[2], 16)


def _has_open(folder: Path, sockets: set[str]) -> bool:
    try:
        entries = list(folder.iterdir())
    except OSError:
        return False
    for entry in entries:
        with suppress(OSError):
            if str(entry.readlink()) in sockets:
                return True
    return False
