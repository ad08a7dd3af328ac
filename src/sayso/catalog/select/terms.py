"""Terms: what texts are looked up by. Words are split, folded and stemmed; CJK goes by pairs."""

import re
import unicodedata
from typing import Final

from sayso.catalog.select.stems import stem

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
        found += _learn(chunk) if said is None else said
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
    found = tuple(_read(chunk)) if len(chunk) <= _LONGEST or _CJK.search(chunk) else ()
    if len(chunk) <= _LONGEST:
        _KNOWN[chunk] = found
    return found


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
    return [run] if len(run) == 1 else [run[i : i + 2] for i in range(len(run) - 1)]


def _read_word(word: str) -> list[str]:
    if not word or len(word) > _LONGEST:
        return []
    parts = _HUMP.sub(" ", word).split(" ")
    if len(parts) == _PARTS and len(word) <= _BRAND and word[0].isupper():
        parts.append(word)
    folded = [fold(part) for part in parts]
    return [stem(word) for word in folded if word not in _STOP]
