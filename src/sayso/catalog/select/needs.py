"""Needs: what a message asks for, part by part, so that one does not crowd out another."""

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from sayso.catalog.select.cues import MARK, read_cues
from sayso.catalog.select.terms import terms

_HEAD: Final = 3_000
_TAIL: Final = 1_000
"""Of a long message its beginning and its end are read: there people say what they want."""
_MOST: Final = 24
_MOST_MESSAGES: Final = 4
_FADING: Final = 0.5
"""What a message counts beside the one after it."""
_CUED: Final = 0.8
"""What a word counts that the message does not say, but asks for."""

_SENTENCE: Final = re.compile(
    r"""(?<=[^\s.!?;]{2})[.!?;]+(?=[\s"'’”)]|$) | [\u3002\uff01\uff1f\uff1b]+ | \n+
    | \b(?:then|also|finally|lastly|next|additionally|furthermore|moreover|besides
        |first(?:ly)?|second(?:ly)?|third(?:ly)?|after(?:wards|\ that|\ this))\b""",
    re.IGNORECASE | re.VERBOSE,
)
_CLAUSE: Final = re.compile(r"[\uff0c\u3001]+|,\s+|:\s+|\b(?:and|as\ well\ as)\b", re.IGNORECASE)


class Need(NamedTuple):
    """One thing that is asked for: what each of its terms counts, and what the whole does."""

    text: str
    terms: Mapping[str, float]
    weight: float = 1.0


def read_needs(messages: Sequence[str]) -> list[list[Need]]:
    """What is asked for, a list for each sentence; the last message counts most.

    >>> [[one.text for one in said] for said in read_needs(["List and sort files. Mail them."])]
    [['List', 'sort files'], ['Mail them']]
    """
    found: list[list[Need]] = []
    weight = 1.0
    left = _MOST
    for message in list(reversed(messages))[:_MOST_MESSAGES]:
        for sentence in _SENTENCE.split(read_cues(_cut(message))):
            parts = ((part, _count(part)) for part in _CLAUSE.split(sentence))
            needs = [Need(part.strip(), counted, weight) for part, counted in parts if counted]
            if needs and left > 0:
                found.append(needs[:left])
                left -= len(needs)
        weight *= _FADING
    return found


def _cut(message: str) -> str:
    whole = len(message) <= _HEAD + _TAIL
    return message if whole else f"{message[:_HEAD]}\n{message[-_TAIL:]}"


def _count(part: str) -> dict[str, float]:
    """What each term of a part counts; every second piece stands between marks."""
    found: dict[str, float] = {}
    for place, piece in enumerate(part.split(MARK)):
        said = terms(piece)
        counts = _CUED if place % 2 else 1.0
        for term in said:
            found.setdefault(term, counts)
        if not place % 2:
            for first, other in pairwise(said):
                found.setdefault(first + other, 1.0)
    return found
