"""Mailboxes: one message after another."""

import re
from typing import Final

from sayso.verify.grade.readers.content import Outcome, compare_rows

BEGIN: Final = re.compile(rb"^From ", re.MULTILINE)
BOOKS: Final = re.compile(
    rb"^(?:Status|X-Status|X-Mozilla-Status2?|Content-Length):.*\r?\n", re.MULTILINE | re.IGNORECASE
)
"""Headers that a reader writes for itself: read, answered, length."""


class MboxReader:
    """Messages, in any order."""

    name = "mbox"

    def compare(self, before: bytes, after: bytes) -> Outcome:
        return compare_rows(
            _messages(before), _messages(after), is_alike=_is_alike, word="messages"
        )


def _messages(content: bytes) -> list[bytes]:
    if content and not content.startswith(b"From "):
        raise ValueError("not a mailbox")
    starts = [found.start() for found in BEGIN.finditer(content)]
    ends = [*starts[1:], len(content)]
    return [content[start:end].rstrip() for start, end in zip(starts, ends, strict=True)]


def _is_alike(old: bytes, new: bytes) -> bool:
    """Whether only what a reader notes of a message has changed."""
    return BOOKS.sub(b"", old) == BOOKS.sub(b"", new)
