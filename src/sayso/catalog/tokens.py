"""Token estimates; every model counts differently."""

import re
from typing import Final

_PIECE: Final = re.compile(r"[a-z]+|[A-Z][a-z]*|\d{1,3}|\n+|[^\sa-zA-Z\d]|[^\S\n]{2,}")
_LETTERS: Final = 7
"""The usual number of letters in one token."""
_LONG: Final = re.compile(rf"[a-z]{{{_LETTERS + 1},}}|[A-Z][a-z]{{{_LETTERS},}}")


def estimate(text: str) -> int:
    """Estimate the tokens in `text`; the estimate is rather too high than too low.

    Counts words by length, and each sign, line end and letter of another script as one. For an
    exact budget pass the model's own counter: `prompt.build(…, count=counter)`.

    >>> estimate("These change nothing. Call them freely, without asking.")
    11
    """
    # Each piece is one token; the few long words are more.
    more = ((len(word) - 1) // _LETTERS for word in _LONG.findall(text))
    return len(_PIECE.findall(text)) + sum(more)
