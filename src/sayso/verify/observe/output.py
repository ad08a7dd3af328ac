"""The comparison of two results, ignoring times and other values that vary from call to call."""

import difflib
import re
from collections.abc import Mapping
from typing import Any, Final

from sayso.schema import canonical
from sayso.trace import Effect, Kind, Life, Observer
from sayso.verify.call import MadeCall
from sayso.verify.outcome import text_of

_VOLATILE: Final = (
    (
        re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?"),
        "<time>",
    ),
    (re.compile(r"\b\d{1,2}:\d\d:\d\d(?:\.\d+)?\b"), "<time>"),
    (
        re.compile(
            r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b", re.IGNORECASE
        ),
        "<uuid>",
    ),
    (re.compile(r"\b1[5-9]\d{8}(?:\d{3}|\.\d+)?\b"), "<time>"),
    (re.compile(r"\b\d+(?:\.\d+)? ?(?:ms|µs|ns|s|sec|seconds|milliseconds)\b"), "<duration>"),
    (re.compile(r"(?<=/tmp/)[\w.-]+"), "<temporary>"),
    (re.compile(r"0x[0-9a-f]{6,}"), "<address>"),
)
"""Times, durations, random identifiers, addresses and temporary names in texts."""
_MOST_LINES: Final = 5


def normalise(text: str) -> str:
    """Mask times, durations, random identifiers and addresses in a text.

    >>> normalise("done at 2026-01-02T03:04:05Z in 12 ms")
    'done at <time> in <duration>'
    """
    for pattern, word in _VOLATILE:
        text = pattern.sub(word, text)
    return text


def difference(first: Mapping[str, Any], second: Mapping[str, Any]) -> str:
    """Describe the difference of two results in a few lines; "" if they are equal."""
    return difference_of_texts(_whole(first), _whole(second))


def difference_of_texts(first: str, second: str) -> str:
    r"""Describe the difference of two normalised texts in a few lines.

    >>> difference_of_texts("a\n1 ms", "a\n2 ms\nb")
    '+b'
    """
    before = normalise(first)
    other = normalise(second)
    if before == other:
        return ""
    lines = difflib.unified_diff(before.splitlines(), other.splitlines(), lineterm="", n=0)
    changed = [line for line in lines if not line.startswith(("---", "+++", "@@"))]
    return "\n".join(changed[:_MOST_LINES])


def differing(first: MadeCall, second: MadeCall) -> Effect | None:
    """Return an effect, for information only, if two calls with the same arguments differ."""
    detail = difference(first.result, second.result)
    if not detail:
        return None
    return Effect(
        Kind.UPDATE,
        f"the answer of {second.tool}",
        Observer.OUTPUT,
        second.number,
        detail,
        life=Life.TRANSIENT,
        reason="two calls with the same arguments got different results, which refutes no hint",
    )


def _whole(result: Mapping[str, Any]) -> str:
    structured = result.get("structuredContent")
    document = "" if structured is None else canonical(structured).decode()
    return text_of(result) + "\n" + document.replace(",", ",\n")
