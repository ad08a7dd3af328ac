"""Readable text: English words in plain letters.

`verbs.txt` has English verbs, `nouns.txt` words that are rarely verbs, `homographs.txt` verbs that
are as often nouns. Verbs were looked up in
the tables of lemminflect (https://github.com/bjascob/LemmInflect, copyright 2019 Brad Jascob, MIT
licence). The words come from the training corpus and from summaries of published packages. The
lists are maintained by hand.
"""

import re
from functools import cache, lru_cache
from importlib.resources import files
from typing import Final
from unicodedata import category

from sayso.infer.grammar import CLOSED, STATIVES
from sayso.infer.lexicon import verb_of

_SIGNS: Final = frozenset("’•→←↔⇒≤≥≠×·°§©®™\u2032\u2033€£¥±✓✔✅❌⚠️\u2212≈💡\u2139📌🔍🔎📋📊📈📉")
"""Non-ASCII signs that do not mean an action."""
_PUNCTUATION: Final = frozenset({"Zs", "Pd", "Po", "Ps", "Pe", "Pi", "Pf"})
_OTHER: Final = re.compile(r"[^\n\r\t\x20-\x7e]")
_PICTURES: Final = re.compile(
    r"^[ \t*#>-]*[\u2600-\u27bf\U0001f300-\U0001faff]"
    r"[\ufe0f\u200d\u2600-\u27bf\U0001f300-\U0001faff]*"
    r"(?= (?!it\b|them\b|the\b|this\b|that\b|all\b)[\w*])",
    re.MULTILINE | re.IGNORECASE,
)
"""Pictures at the start of a line, followed by words that are not an object."""
_SCRAMBLED: Final = re.compile(r"\b(?:[a-z][\W_]){3,}[a-z]\b|\b[a-z]+[0-9@$][a-z]+[a-z0-9@$]*\b")
"""Spaced-out letters, and digits or signs in place of letters."""
_NOUN_ENDINGS: Final = (
    *("tion", "sion", "ment", "ness", "ity", "ship", "ism", "ology", "ance", "ence"),
    *("ous", "ful", "less", "able", "ible", "ical"),
)
_SHORTEST_NOUN: Final = 8
_STEMS: Final = (
    ("ies", ("y",)),
    ("ied", ("y",)),
    ("es", ("", "e")),
    ("s", ("",)),
    ("ed", ("", "e")),
    ("ing", ("", "e")),
    ("er", ("", "e")),
)


def is_plain(text: str) -> bool:
    """Return whether a text has only readable characters; pictures only at the start of lines."""
    return all(
        sign in _SIGNS or (category(sign) in _PUNCTUATION and not sign.isascii())
        for sign in _OTHER.findall(_PICTURES.sub("", text))
    )


def is_scrambled(text: str) -> bool:
    """Return whether a lower-case text has obfuscated words."""
    return any(match[0] not in nouns() for match in _SCRAMBLED.finditer(text))


def is_english(words: list[str]) -> bool:
    """Return whether most of the words are known English words."""
    long = [word for word in words if word.isalpha() and len(word) > 1]
    return sum(map(is_known, long)) * 2 >= len(long)


@lru_cache(maxsize=8192)
def is_known(word: str) -> bool:
    """Return whether a lower-case word is an English word of any kind.

    >>> is_known("vouchers"), is_known("purges"), is_known("lösche")
    (True, True, False)
    """
    return (
        word in CLOSED
        or word.isdigit()
        or is_noun(word)
        or is_stative(word)
        or verb_of(word) is not None
        or is_verb(word)
    )


@cache
def nouns() -> frozenset[str]:
    """Return words that are rarely verbs in descriptions of tools."""
    return _words("nouns.txt")


@cache
def _verbs() -> frozenset[str]:
    return _words("verbs.txt")


def _words(name: str) -> frozenset[str]:
    return frozenset(files("sayso.infer").joinpath(name).read_text("utf-8").split())


@lru_cache(maxsize=8192)
def is_noun(word: str) -> bool:
    """Return whether a word is a noun or an adjective, not a verb."""
    forms = [word, word.removesuffix("s"), word.removesuffix("es")]
    if word.endswith("ies"):
        forms.append(word[:-3] + "y")
    if not nouns().isdisjoint(forms):
        return True
    return len(word) >= _SHORTEST_NOUN and word.removesuffix("s").endswith(_NOUN_ENDINGS)


@lru_cache(maxsize=8192)
def is_stative(word: str) -> bool:
    """Return whether a word is a form of a verb that changes nothing."""
    return not STATIVES.isdisjoint(stems(word))


@lru_cache(maxsize=8192)
def is_verb(word: str) -> bool:
    """Return whether a word is a form of a dictionary verb that the lexicon lacks."""
    return not _verbs().isdisjoint(stems(word))


@cache
def _homographs() -> frozenset[str]:
    return _words("homographs.txt")


@lru_cache(maxsize=8192)
def is_homograph(word: str) -> bool:
    """Return whether a form of a dictionary verb is as often a noun: `signals`, `the issue`."""
    return not _homographs().isdisjoint(stems(word))


def is_participle(word: str) -> bool:
    """Return whether a word is a regular participle: `named`, but not `shred`."""
    return word.endswith("ed") and word not in _verbs() and verb_of(word) != word


def stems(word: str) -> list[str]:
    """Return the possible base forms of a word, the word itself first."""
    forms = [word]
    for ending, others in _STEMS:
        stem = word.removesuffix(ending)
        if stem == word:
            continue
        forms += [stem + other for other in others]
        if len(stem) > 1 and stem[-1] == stem[-2]:
            forms.append(stem[:-1])
    return forms
