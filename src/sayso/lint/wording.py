"""Names in sentences."""

from collections.abc import Sequence
from typing import Final

_MOST: Final = 5


def listed(names: Sequence[str]) -> str:
    """Some names in a sentence, the first five of them.

    >>> listed(["a", "b"]), listed("abcdefgh")
    ('a, b', 'a, b, c, d, e and 3 more')
    """
    shown = ", ".join(name[:80] for name in names[:_MOST])
    return shown if len(names) <= _MOST else f"{shown} and {len(names) - _MOST} more"
