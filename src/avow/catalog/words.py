"""The words of names and texts, for looking tools up by some of them."""

import re
from collections.abc import Mapping
from typing import Final

_HUMP: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_WORD: Final = re.compile(r"[^\W_]+")

_GROUPS: Final = """
add create insert make new
cancel stop abort terminate
change edit modify set update
clone copy duplicate
connect link associate
cost price
delete destroy drop erase remove
directory folder
document file
email mail
error issue problem
execute launch run start
fetch get read retrieve show
find lookup query search
image photo picture
list show view browse display
people person user
post publish send
repo repository
"""
"""Words by which people ask for the same thing, a group on each line."""


def word_list(text: str) -> list[str]:
    """The words of a text or an identifier, in their order, in small letters and in the singular.

    >>> word_list("listHTTPHeaders")
    ['list', 'http', 'header']
    """
    return [_singular(one.casefold()) for one in _WORD.findall(_HUMP.sub(" ", text))]


def words_of(text: str) -> frozenset[str]:
    """The words of a text or an identifier, each once.

    >>> sorted(words_of("customer_delete, customers"))
    ['customer', 'delete']
    """
    return frozenset(word_list(text))


def _singular(word: str) -> str:
    is_plural = len(word) > 3 and word.endswith("s") and not word.endswith("ss")  # noqa: PLR2004 - "gas"
    return word[:-1] if is_plural else word


def _related() -> dict[str, frozenset[str]]:
    found: dict[str, frozenset[str]] = {}
    for line in _GROUPS.strip().splitlines():
        group = words_of(line)
        for word in group:
            found[word] = found.get(word, frozenset()) | (group - {word})
    return found


RELATED: Final[Mapping[str, frozenset[str]]] = _related()
"""For a word those by which people ask for the same thing."""
