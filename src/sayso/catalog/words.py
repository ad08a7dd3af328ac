"""The words of names and texts."""

import re
from typing import Final

_HUMP: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_WORD: Final = re.compile(r"[^\W_]+")


def word_list(text: str) -> list[str]:
    """Return the words of a text or an identifier in order, lower-case and singular.

    >>> word_list("listHTTPHeaders")
    ['list', 'http', 'header']
    """
    return [_singular(word.casefold()) for word in _WORD.findall(_HUMP.sub(" ", text))]


def words_of(text: str) -> frozenset[str]:
    """Return the set of words of a text or an identifier.

    >>> sorted(words_of("customer_delete, customers"))
    ['customer', 'delete']
    """
    return frozenset(word_list(text))


def _singular(word: str) -> str:
    if len(word) <= 3 or word.endswith("ss"):  # noqa: PLR2004 - "gas"
        return word
    return word.removesuffix("s")
