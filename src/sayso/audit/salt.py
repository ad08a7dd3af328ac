"""Salts: 64 random bits that make the digest of a payload tell nothing once it is erased."""

import os
import secrets
from typing import Final

_DIGITS: Final = 16
_DRAWN: Final = 256
_drawn: Final[list[str]] = []


def draw_salt() -> str:
    """A salt that was never used before, in hexadecimal; safe to call in any thread."""
    try:
        return _drawn.pop()
    except IndexError:
        # Many at a time: asking the system gives up the interpreter's lock, and getting it back
        # from a thread that is busy takes longer than all the rest of a record.
        digits = secrets.token_hex(_DIGITS * _DRAWN // 2)
        first, *others = (digits[at : at + _DIGITS] for at in range(0, len(digits), _DIGITS))
        _drawn.extend(others)
        return first


# A fork would otherwise go on with the salts of its parent.
os.register_at_fork(after_in_child=_drawn.clear)
