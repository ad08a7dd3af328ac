"""Chain heads, kept outside the store to detect a chain whose last records were removed."""

import json
import logging
import os
from collections.abc import Callable, Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from sayso.errors import UsageError
from sayso.store import Head

Emit = Callable[[Head], None]

_log: Final = logging.getLogger(__name__)


def to_json(head: Head) -> str:
    """Return a head as one line of JSON."""
    return json.dumps(asdict(head))


def log_head(head: Head) -> None:
    """Write a head to the log; `read_heads` reads such a log file."""
    _log.info("audit head %s", to_json(head), extra={"head": asdict(head)})


def heads_file(path: Path) -> Emit:
    """Return a function that appends heads to a file. It logs a line that it cannot write.

    Choose a file that the processes writing the store cannot change.
    """

    def emit(head: Head) -> None:
        try:
            number = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            with os.fdopen(number, "w") as file:
                file.write(f"{to_json(head)}\n")
        except OSError as error:
            _log.warning("%s: cannot write a chain head: %s", path, error.strerror)

    return emit


def read_heads(lines: Iterable[str], where: str = "the heads") -> dict[str, Head]:
    """Return the last head of each chain in lines of JSON or of a log. Raises `UsageError`."""
    heads: dict[str, Head] = {}
    for line in lines:
        head = _head(line)
        if head is not None and head.index > heads.get(head.writer, _NONE).index:
            heads[head.writer] = head
    if not heads:
        fix = "Each line holds writer, index and mac, as `sayso audit verify --json` prints them."
        raise UsageError("no chain head found", where=where, fix=fix)
    return heads


_NONE: Final = Head("", -1, "")


def _head(line: str) -> Head | None:
    _, brace, rest = line.partition("{")
    try:
        members: dict[str, Any] = json.JSONDecoder().raw_decode(brace + rest)[0]
    except ValueError:
        return None
    # In a JSON log each line is an object, with the head as its member "head".
    if isinstance(members.get("head"), dict):
        members = members["head"]
    writer = members.get("writer")
    index = members.get("index")
    mac = members.get("mac")
    if isinstance(writer, str) and isinstance(index, int) and isinstance(mac, str):
        return Head(writer, index, mac)
    return None
