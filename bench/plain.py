"""BM25 as it is usually written, to compare `sayso.Selector` with: plain, and split and stemmed."""

import math
import re
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, cast

Tokens = Callable[[str], list[str]]

K1, B = 1.2, 0.75
_WORD = re.compile(r"\w+")
_PART = re.compile(r"[^\W_]+")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_ENDINGS = ("ations", "ation", "ings", "ing", "ies", "ed", "es", "ions", "ion", "s", "e", "y")
_STOP = frozenset(
    "a an and are as at be by for from has he i in is it its me my of on or please that the this "
    "to was were will with you your".split()
)
_SHORTEST = 3


def split_plain(text: str) -> list[str]:
    """Words as they stand, in small letters."""
    return _WORD.findall(text.lower())


def split_and_stem(text: str) -> list[str]:
    """The parts of words and identifiers, without common words and endings."""
    words = (one.lower() for one in _PART.findall(_HUMP.sub(" ", text)))
    return [_stem(one) for one in words if one not in _STOP]


def plain_text(raw: Mapping[str, Any]) -> str:
    """Name and description."""
    return f"{raw['name']} {raw.get('description') or ''}"


def full_text(raw: Mapping[str, Any]) -> str:
    """The same with the parameters, their names and what is said of them."""
    properties: Mapping[str, Any] = raw.get("inputSchema", {}).get("properties") or {}
    said = [f"{name} {_said(one)}" for name, one in properties.items()]
    return " ".join([plain_text(raw), *said])


class Plain:
    """BM25 over texts."""

    def __init__(self, texts: Iterable[str], split: Tokens) -> None:
        self._split = split
        documents = [Counter(split(one)) for one in texts]
        lengths = [one.total() for one in documents]
        usual = sum(lengths) / max(1, len(lengths)) or 1.0
        self._count = len(documents)
        self._found: dict[str, tuple[array[int], array[float]]] = {}
        for place, (words, length) in enumerate(zip(documents, lengths, strict=True)):
            damping = K1 * (1 - B + B * length / usual)
            for word, count in words.items():
                places, worths = self._found.setdefault(word, (array("I"), array("f")))
                places.append(place)
                worths.append(count * (K1 + 1) / (count + damping))

    def rank(self, query: str, most: int = 10) -> list[int]:
        """The places of the texts that fit best."""
        scores: dict[int, float] = {}
        for word in self._split(query):
            if word not in self._found:
                continue
            places, worths = self._found[word]
            rarity = math.log(1 + (self._count - len(places) + 0.5) / (len(places) + 0.5))
            for place, worth in zip(places, worths, strict=True):
                scores[place] = scores.get(place, 0.0) + rarity * worth
        return sorted(scores, key=lambda at: (-scores[at], at))[:most]


def percentile(times: Sequence[float], share: float) -> float:
    """The time that so large a share of all is below."""
    return sorted(times)[min(len(times) - 1, int(share * len(times)))]


def _said(schema: object) -> str:
    known = cast("dict[str, Any]", schema) if isinstance(schema, dict) else {}
    return str(known.get("description") or "")


def _stem(word: str) -> str:
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST and word[-2:] != "ss":
            return word[: -len(ending)]
    return word
