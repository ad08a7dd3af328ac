"""Plain text: lines."""

import re
from difflib import SequenceMatcher
from typing import Final

from sayso.trace import Loss
from sayso.verify.grade.readers.content import Outcome, compare_rows

ALIKE: Final = 0.5
"""Share of a line that must stay for it to be the same line."""
VALUE: Final = re.compile(r"[-+]?\d[\d.,:TZ+-]{0,40}|true|false|on|off", re.IGNORECASE)


class TextReader:
    """Lines. Empty lines cannot be lost; other bytes are another text."""

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
    """Decode UTF-8, or UTF-16 with a byte order mark."""
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
    """Return whether a file holds one number, time or switch: its name is the key."""
    return len(lines) == 1 and VALUE.fullmatch(lines[0]) is not None


def is_alike(old: str, new: str) -> bool:
    """Return whether enough of a line stayed for it to be the same line."""
    if max(len(old), len(new)) > 1_000:  # noqa: PLR2004 - comparing long lines takes too long
        return False
    return SequenceMatcher(None, old, new).ratio() >= ALIKE
