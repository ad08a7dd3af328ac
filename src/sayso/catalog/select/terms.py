"""Terms: what texts are looked up by. Words are split, folded and stemmed; CJK goes by pairs.

A stem is what the forms of an English word have in common. There are fewer rules than Porter's
(1980): a tool's name is short, and `customer` must not become `custom`.
"""

import re
import unicodedata
from typing import Final

_CHUNK: Final = re.compile(r"[^\W_]+")
_HUMP: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_CJK: Final = re.compile(
    "[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0002fa1f]+"
)
_LONGEST: Final = 40
"""A longer word is a key or a picture in base64, and finds nothing."""
_BRAND: Final = 12
_PARTS: Final = 2
"""`GitHub` in a text is one word as well as two."""

_VOWELS: Final = re.compile(r"[aeiouy]+")
_SHORTEST: Final = 4
"""Words below that have no endings worth taking off: `gas`, `bus`, `red`."""
_LATIN: Final = re.compile(r"[a-z]+")
_MANY: Final = 2
"""So many syllables must be left where a long ending is taken off."""
_LEAST: Final = 5
_IS_ROOT: Final = 3
"""So many letters must be left of a word without its `ing` or `ed`."""

_STOP: Final = frozenset(
    """
    a about above after again all also am an and any are as at be been before being below between
    both but by can cannot could did do does doing don done down during each either else etc ever
    every few for from further had has have having he her here hers him his how however i if in
    into is it its itself just kindly let like ll may me might mine more most much must my myself
    need needs neither no nor not of off on once only onto or other ought our ours out over own per
    please quite rather re same shall she should since so some such than thank thanks that the
    their theirs them then there these they this those though through thus to too under until up
    upon us ve very via want was we well were what when where whether which while who whom whose
    why will with within without would yet you your yours
    """.split()
)

_KNOWN: Final[dict[str, tuple[str, ...]]] = {}
_MOST_KNOWN: Final = 100_000


def terms(text: str) -> list[str]:
    """The terms of a text or an identifier, in their order, without words that say nothing.

    >>> terms("listHTTPHeaders of the Größen"), terms("天气预报")
    (['list', 'http', 'header', 'grossen'], ['天气', '气预', '预报'])
    """
    found: list[str] = []
    known = _KNOWN
    for chunk in _CHUNK.findall(text):
        said = known.get(chunk)
        if said is None:
            said = _learn(chunk)
        found += said
    return found


def fold(text: str) -> str:
    """A text in small letters and without accents."""
    if text.isascii():
        return text.lower()
    apart = unicodedata.normalize("NFKD", text.casefold())
    return unicodedata.normalize("NFC", "".join(c for c in apart if not unicodedata.combining(c)))


def _learn(chunk: str) -> tuple[str, ...]:
    """The terms of one chunk; texts hold the same ones over and over."""
    if len(_KNOWN) >= _MOST_KNOWN:
        _KNOWN.clear()
    if len(chunk) > _LONGEST:
        return tuple(_read(chunk)) if _CJK.search(chunk) else ()
    _KNOWN[chunk] = tuple(_read(chunk))
    return _KNOWN[chunk]


def _read(chunk: str) -> list[str]:
    if chunk.isascii():
        return _read_word(chunk)
    found: list[str] = []
    place = 0
    for run in _CJK.finditer(chunk):
        found += _read_word(chunk[place : run.start()])
        found += _pairs(run.group())
        place = run.end()
    return found + _read_word(chunk[place:])


def _pairs(run: str) -> list[str]:
    return [run[i : i + 2] for i in range(len(run) - 1)] or [run]


def _read_word(word: str) -> list[str]:
    if not word or len(word) > _LONGEST:
        return []
    parts = _HUMP.sub(" ", word).split(" ")
    if len(parts) == _PARTS and len(word) <= _BRAND and word[0].isupper():
        parts.append(word)
    folded = [fold(part) for part in parts]
    return [stem(word) for word in folded if word not in _STOP]


def stem(word: str) -> str:
    """The stem of a word in small letters; one in another script is its own.

    >>> [stem(word) for word in ("queries", "translation", "analyzing", "customers", "searched")]
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
    if word.endswith(("ss", "us", "is")):
        return word
    return word.removesuffix("s")


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
