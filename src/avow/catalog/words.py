"""The words of names and texts, for looking tools up by some of them."""

import re
from typing import Final

_HUMP: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_WORD: Final = re.compile(r"[^\W_]+")


def words_of(text: str) -> frozenset[str]:
    """The words of a text or an identifier, in small letters and in the singular.

    >>> sorted(words_of("listHTTPHeaders, customer_delete"))
    ['customer', 'delete', 'header', 'http', 'list']
    """
    return frozenset(_singular(one.casefold()) for one in _WORD.findall(_HUMP.sub(" ", text)))


def _singular(word: str) -> str:
    is_plural = len(word) > 3 and word.endswith("s") and not word.endswith("ss")  # noqa: PLR2004 - "gas"
    return word[:-1] if is_plural else word
