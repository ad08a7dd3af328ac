"""Plain text: lines."""

import re
from difflib import SequenceMatcher
from typing import Final

from sayso.trace import Loss
from sayso.verify.grade.readers.content import Outcome, compare_rows

ALIKE: Final = 0.5
"""How much of a line must stay for it to be the same line, changed."""
VALUE: Final = re.compile(r"[-+]?\d[\d.,:TZ+-]{0,40}|true|false|on|off", re.IGNORECASE)


class TextReader:
    """Lines; empty ones are nothing that can be lost. Other bytes are another text."""

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
    """Text in UTF-8, or in UTF-16 that says so."""
    if content[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return content.decode("utf-16")
    text = content.decode("utf-8-sig")
    if "\0" in text:
        raise ValueError("not text")
    return text


def lines(content: bytes) -> list[str]:
    """Lines that hold something, without the space around them."""
    return [line for raw in decoded(content).splitlines() if (line := raw.strip())]


def is_value(lines: list[str]) -> bool:
    """Whether a file holds one number, time or switch: then its name is its key."""
    return len(lines) == 1 and VALUE.fullmatch(lines[0]) is not None


def is_alike(old: str, new: str) -> bool:
    """Whether enough of a line stayed for it to be the same one, changed."""
    if max(len(old), len(new)) > 1_000:  # noqa: PLR2004 - comparing long lines takes too long
        return False
    return SequenceMatcher(None, old, new).ratio() >= ALIKE
