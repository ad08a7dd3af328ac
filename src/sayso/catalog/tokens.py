"""How many tokens a text has, estimated: every model counts in its own way."""

import re
from typing import Final

_PIECE: Final = re.compile(r"[a-z]+|[A-Z][a-z]*|\d{1,3}|\n+|[^\sa-zA-Z\d]|[^\S\n]{2,}")
_LETTERS: Final = 7
"""Up to so many letters are one token more often than not."""
_LONG: Final = re.compile(rf"[a-z]{{{_LETTERS + 1},}}|[A-Z][a-z]{{{_LETTERS},}}")


def estimate(text: str) -> int:
    """About how many tokens `text` has; rather too many than too few.

    Counts words by their length, and every sign, line end and letter of another script as one.
    A budget that must hold exactly needs the model's own counter: `build(…, count=counter)`.

    >>> estimate("These change nothing. Call them freely, without asking.")
    11
    """
    # Each piece is one, and a long word more: there are few of these to look at one by one.
    more = ((len(word) - 1) // _LETTERS for word in _LONG.findall(text))
    return len(_PIECE.findall(text)) + sum(more)
