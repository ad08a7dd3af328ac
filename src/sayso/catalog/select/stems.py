"""Stems: what the forms of an English word have in common, so that each finds the others.

Fewer rules than Porter's (1980): a tool's name is short, and `customer` must not become `custom`.
"""

import re
from typing import Final

_VOWELS: Final = re.compile(r"[aeiouy]+")
_SHORTEST: Final = 4
"""Words below that have no endings worth taking off: `gas`, `bus`, `red`."""
_LATIN: Final = re.compile(r"[a-z]+")
_MANY: Final = 2
"""So many syllables must be left where a long ending is taken off."""
_LEAST: Final = 5
_IS_ROOT: Final = 3
"""So many letters must be left of a word without its `ing` or `ed`."""


def stem(word: str) -> str:
    """The stem of a word in small letters; one in another script is its own.

    >>> [stem(one) for one in ("queries", "translation", "analyzing", "customers", "searched")]
    ['queri', 'translat', 'analys', 'customer', 'search']
    """
    if len(word) < _SHORTEST or not _LATIN.fullmatch(word):
        return word
    return _shape(_without_noun(_without_form(_singular(word))))


def _singular(word: str) -> str:
    if word.endswith(("ysis", "yses")):
        return word[:-2]
    if word.endswith("ies"):
        return f"{word[:-3]}y"
    if word.endswith(("sses", "xes", "ches", "shes", "zes")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith(("ss", "us", "is")) else word


def _without_form(word: str) -> str:
    """Without the ending of a verb; a consonant that was doubled for it stands once."""
    for ending in ("ing", "ed"):
        left = word.removesuffix(ending)
        if left != word and len(left) >= _IS_ROOT and _VOWELS.search(left) and left[-1:] != "e":
            is_doubled = left[-1] == left[-2] and left[-1] not in "aeiousz"
            return left[:-1] if is_doubled else left
    return word


def _without_noun(word: str) -> str:
    """Without what makes a noun or an adverb of a verb or an adjective."""
    if word.endswith("ator"):
        word = word[:-2]
    elif word.endswith(("sion", "tion")) and _is_long(word[:-3]):
        word = word[:-3]
    for ending in ("ement", "ment", "ly"):
        left = word.removesuffix(ending)
        if left != word and len(left) >= _LEAST and _syllables(left) >= _MANY:
            return left
    return word


def _shape(word: str) -> str:
    """One spelling for what is the same: `e`, `y`, `ize` and `ise`, `ll`, `ate`."""
    if not word.endswith("ome"):  # `income` and `home` have no other forms
        word = word.removesuffix("e")
    if word.endswith("at") and _syllables(word[:-2]) >= _MANY:
        word = word[:-2]
    if word.endswith("yz") or word.endswith("iz"):  # noqa: PIE810 - two spellings, not one rule
        word = f"{word[:-1]}s"
    if word.endswith("ll"):
        word = word[:-1]
    if word.endswith("y") and len(word) > _IS_ROOT and word[-2] not in "aeiou":
        word = f"{word[:-1]}i"
    return word


def _is_long(left: str) -> bool:
    return _syllables(left) >= _MANY or (left.endswith("at") and len(left) >= _LEAST)


def _syllables(word: str) -> int:
    return len(_VOWELS.findall(word))
