"""Chain heads, kept outside the store: they find a tail that was cut off."""

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
    """Return one line of a file of heads."""
    return json.dumps(asdict(head))


def log_head(head: Head) -> None:
    """Tell a head to the log; a file of such lines is a file of heads."""
    _log.info("audit head %s", to_json(head), extra={"head": asdict(head)})


def heads_file(path: Path) -> Emit:
    """Tell heads to a file, one line each; it should be where the store's writer cannot write.

    A line that cannot be written is logged, and does not stop the log.
    """

    def emit(head: Head) -> None:
        try:
            number = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            with os.fdopen(number, "w") as file:
                file.write(f"{to_json(head)}\n")
        except OSError as error:
            _log.warning("%s: a chain head cannot be written: %s", path, error.strerror)

    return emit


def read_heads(lines: Iterable[str], where: str = "the heads") -> dict[str, Head]:
    """Return the furthest head of each chain in lines of JSON, or of a log with such lines.

    Raises `UsageError` where no line holds one.
    """
    heads: dict[str, Head] = {}
    for line in lines:
        head = _head(line)
        if head is not None and head.index > heads.get(head.writer, _NONE).index:
            heads[head.writer] = head
    if not heads:
        fix = "A line holds writer, index and mac, as `sayso audit verify --json` prints them."
        raise UsageError("there is no chain head in it", where=where, fix=fix)
    return heads


_NONE: Final = Head("", -1, "")


def _head(line: str) -> Head | None:
    _, brace, rest = line.partition("{")
    try:
        members: dict[str, Any] = json.JSONDecoder().raw_decode(brace + rest)[0]
    except ValueError:
        return None
    # A line of a log in JSON holds the head as one of its members.
    if isinstance(members.get("head"), dict):
        members = members["head"]
    writer = members.get("writer")
    index = members.get("index")
    mac = members.get("mac")
    if isinstance(writer, str) and isinstance(index, int) and isinstance(mac, str):
        return Head(writer, index, mac)
    return None
