"""The reader of plain text, which compares lines."""

import re
from difflib import SequenceMatcher
from typing import Final

from sayso.trace import Loss
from sayso.verify.grade.readers.content import Outcome, compare_rows

ALIKE: Final = 0.5
"""The share of a line that must stay the same for the line to count as changed, not lost."""
VALUE: Final = re.compile(r"[-+]?\d[\d.,:TZ+-]{0,40}|true|false|on|off", re.IGNORECASE)


class TextReader:
    """Compares lines. Empty lines do not count as lost; any different byte is a change."""

    name = "text"

    def compare(self, before: bytes, after: bytes) -> Outcome:
        old = lines(before)
        new = lines(after)
        if is_value(old) and is_value(new):
            if old == new:
                return Outcome(is_same=before == after)
            return Outcome(Loss.OVERWROTE)
        found = compare_rows(old, new, is_alike=is_alike, word="lines")
        return Outcome(found.loss, found.detail, is_same=before == after)


def decoded(content: bytes) -> str:
    """Decode UTF-8, or UTF-16 with a byte order mark. Raises `ValueError` for other bytes."""
    if content[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return content.decode("utf-16")
    text = content.decode("utf-8-sig")
    if "\0" in text:
        raise ValueError("not text")
    return text


def lines(content: bytes) -> list[str]:
    """Return the stripped lines that are not empty."""
    return [line for raw in decoded(content).splitlines() if (line := raw.strip())]


def is_value(lines: list[str]) -> bool:
    """Return whether a file contains only one number, time or switch, as a settings file may."""
    return len(lines) == 1 and VALUE.fullmatch(lines[0]) is not None


def is_alike(old: str, new: str) -> bool:
    """Return whether two lines are similar enough to be versions of one line."""
    if max(len(old), len(new)) > 1_000:  # noqa: PLR2004 - comparing long lines takes too long
        return False
    return SequenceMatcher(None, old, new).ratio() >= ALIKE
