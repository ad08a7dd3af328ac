"""The processes at the other end of local TCP connections, as far as Linux shows them."""

from collections.abc import Collection
from contextlib import suppress
from pathlib import Path
from typing import Final

_PROC: Final = Path("/proc")
_TABLES: Final = ("net/tcp", "net/tcp6")


def clients_of(port: int, client_ports: Collection[int], root: Path = _PROC) -> set[int]:
    """Return the processes that are connected to local `port` from one of `client_ports`.

    Processes of other users cannot be seen, nor any without `/proc`.
    """
    wanted = {
        f"socket:[{inode}]"
        for name in _TABLES
        for inode in _inodes(root / name, port, frozenset(client_ports))
    }
    if not wanted:
        return set()
    return {
        int(folder.name)
        for folder in root.iterdir()
        if folder.name.isdigit() and _has_open(folder / "fd", wanted)
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


def _has_open(folder: Path, wanted: set[str]) -> bool:
    try:
        entries = list(folder.iterdir())
    except OSError:
        return False
    for entry in entries:
        with suppress(OSError):
            if str(entry.readlink()) in wanted:
                return True
    return False
