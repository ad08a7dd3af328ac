"""Terms of the index: words are split, folded and stemmed; CJK text is split into pairs.

The stemmer has fewer rules than Porter's (1980): names are short, and `customer` must not become
`custom`.
"""

import re
import unicodedata
from typing import Final

_CHUNK: Final = re.compile(r"[^\W_]+")
_HUMP: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_CJK: Final = re.compile(
    "[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0002fa1f]+"
)
_MAX_WORD: Final = 40
"""Longer words are keys or base64 data, and are ignored."""
# A capitalized word of `_PARTS` parts and at most `_BRAND` letters is also indexed whole: `GitHub`.
_BRAND: Final = 12
_PARTS: Final = 2

_VOWELS: Final = re.compile(r"[aeiouy]+")
_SHORTEST: Final = 4
"""Shorter words are not stemmed: `gas`, `bus`, `red`."""
_LATIN: Final = re.compile(r"[a-z]+")
_MIN_SYLLABLES: Final = 2  # must remain after a long ending is removed
_MIN_LETTERS: Final = 5  # must remain after a long ending is removed
_MIN_ROOT: Final = 3  # letters that must remain after `ing` or `ed` is removed

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

_CACHE: Final[dict[str, tuple[str, ...]]] = {}
_MAX_CACHED: Final = 100_000


def terms(text: str) -> list[str]:
    """Return the terms of a text or an identifier, in order, without stop words.

    >>> terms("listHTTPHeaders of the Größen"), terms("天气预报")
    (['list', 'http', 'header', 'grossen'], ['天气', '气预', '预报'])
    """
    found: list[str] = []
    cache = _CACHE
    for chunk in _CHUNK.findall(text):
        parts = cache.get(chunk)
        if parts is None:
            parts = _learn(chunk)
        found += parts
    return found


def fold(text: str) -> str:
    """Return a text lower-cased and without accents."""
    if text.isascii():
        return text.lower()
    apart = unicodedata.normalize("NFKD", text.casefold())
    return unicodedata.normalize("NFC", "".join(c for c in apart if not unicodedata.combining(c)))


def _learn(chunk: str) -> tuple[str, ...]:
    """Return the terms of one chunk and cache them, since texts repeat chunks."""
    if len(_CACHE) >= _MAX_CACHED:
        _CACHE.clear()
    if len(chunk) > _MAX_WORD:
        return tuple(_read(chunk)) if _CJK.search(chunk) else ()
    _CACHE[chunk] = tuple(_read(chunk))
    return _CACHE[chunk]


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
    if not word or len(word) > _MAX_WORD:
        return []
    parts = _HUMP.sub(" ", word).split(" ")
    if len(parts) == _PARTS and len(word) <= _BRAND and word[0].isupper():
        parts.append(word)
    folded = [fold(part) for part in parts]
    return [stem(word) for word in folded if word not in _STOP]


def stem(word: str) -> str:
    """Return the stem of a lower-case word; a word in another script is returned unchanged.

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
    """Remove the ending of a verb, and undo the doubling of its consonant."""
    for ending in ("ing", "ed"):
        root = word.removesuffix(ending)
        if root != word and len(root) >= _MIN_ROOT and _VOWELS.search(root) and root[-1:] != "e":
            is_doubled = root[-1] == root[-2] and root[-1] not in "aeiousz"
            return root[:-1] if is_doubled else root
    return word


def _without_noun(word: str) -> str:
    """Remove the ending that turns a verb or an adjective into a noun or an adverb."""
    if word.endswith("ator"):
        word = word[:-2]
    elif word.endswith(("sion", "tion")) and _is_long(word[:-3]):
        word = word[:-3]
    for ending in ("ement", "ment", "ly"):
        root = word.removesuffix(ending)
        if root != word and len(root) >= _MIN_LETTERS and _syllables(root) >= _MIN_SYLLABLES:
            return root
    return word


def _shape(word: str) -> str:
    """Unify spellings: `e`, `y`, `ize` and `ise`, `ll`, `ate`."""
    if not word.endswith("ome"):  # `income` and `home` keep it
        word = word.removesuffix("e")
    if word.endswith("at") and _syllables(word[:-2]) >= _MIN_SYLLABLES:
        word = word[:-2]
    if word.endswith("yz") or word.endswith("iz"):  # noqa: PIE810 - two spellings, not one rule
        word = f"{word[:-1]}s"
    if word.endswith("ll"):
        word = word[:-1]
    if word.endswith("y") and len(word) > _MIN_ROOT and word[-2] not in "aeiou":
        word = f"{word[:-1]}i"
    return word


def _is_long(root: str) -> bool:
    return _syllables(root) >= _MIN_SYLLABLES or (root.endswith("at") and len(root) >= _MIN_LETTERS)


def _syllables(word: str) -> int:
    return len(_VOWELS.findall(word))
