"""Chain heads, told to somewhere that is not the store: what finds a tail that was cut off."""

import json
import logging
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Final, cast

from sayso.errors import UsageError
from sayso.store import Head

Emit = Callable[[Head], None]

_log: Final = logging.getLogger(__name__)


def to_json(head: Head) -> str:
    """One line of a file of heads."""
    return json.dumps({"writer": head.writer, "index": head.index, "mac": head.mac})


def log_head(head: Head) -> None:
    """Tell a head to the log; a file of such lines is a file of heads."""
    told = {"writer": head.writer, "index": head.index, "mac": head.mac}
    _log.info("audit head %s", to_json(head), extra={"head": told})


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
    """The furthest head of each chain in lines of JSON, or of a log that holds such lines.

    Raises `UsageError` where no line holds one.
    """
    found: dict[str, Head] = {}
    for line in lines:
        head = _head(line)
        if head is not None and head.index > found.get(head.writer, _NONE).index:
            found[head.writer] = head
    if not found:
        fix = "A line holds writer, index and mac, as `sayso audit verify --json` prints them."
        raise UsageError("there is no chain head in it", where=where, fix=fix)
    return found


_NONE: Final = Head("", -1, "")


def _head(line: str) -> Head | None:
    _, brace, rest = line.partition("{")
    try:
        told: Any = json.JSONDecoder().raw_decode(brace + rest)[0] if brace else None
    except ValueError:
        return None
    line_of_log = cast("dict[str, Any]", told) if isinstance(told, dict) else {}
    # A line of a log in JSON holds the head as one of its members.
    inner = line_of_log.get("head")
    body = cast("dict[str, Any]", inner) if isinstance(inner, dict) else line_of_log
    writer = body.get("writer")
    index = body.get("index")
    mac = body.get("mac")
    if isinstance(writer, str) and isinstance(index, int) and isinstance(mac, str):
        return Head(writer, index, mac)
    return None
