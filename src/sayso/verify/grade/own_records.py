"""Records that a server keeps about itself, as opposed to user data."""

import json
import re
from collections.abc import Iterator
from typing import Any, Final, cast

from sayso.trace import Effect, Kind
from sayso.verify.grade.context import CallContext, thing_of
from sayso.verify.grade.loss import content_of

MIN_VALUE_CHARACTERS: Final = 4
"""The minimum length of a value that is searched in other tools' results."""
MOST_WORDS: Final = 10_000
CHANGE: Final = re.compile(r"; |: | → ")
"""Separators between the names and values in a changed row's detail."""
LOG_LINE: Final = re.compile(
    r"^\W{0,3}(?:\d{4}-\d\d-\d\d[T ]\d\d:\d\d|\d\d:\d\d:\d\d|\w{3} +\d+ \d\d:\d\d|\d{10,13}\b"
    r"|(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR)\b)",
    re.IGNORECASE,
)


def added(effect: Effect) -> str:
    """Return the text that an insert, append or create adds; "" for other effects."""
    if effect.kind is Kind.INSERT:
        return effect.detail
    if effect.kind not in (Kind.APPEND, Kind.CREATE):
        return ""
    before = content_of(effect.before)
    after = content_of(effect.after)
    if after is None or (effect.kind is Kind.APPEND and before is None):
        return ""
    return after[len(before or b"") :].decode("utf-8", errors="replace")


def is_own_record(effect: Effect, context: CallContext) -> str:
    """Return the reason why an added record is the server's own, or "" if it is not.

    A server's own record names the tool or looks like a log line, and calls of every tool leave
    such a record. The tool's name alone is no proof, since a tool can write it into user data.
    """
    text = added(effect)
    if not text:
        return ""
    is_usual = context.usual is not None and thing_of(effect) in context.usual
    names_it = re.search(rf"(?<![\w-]){re.escape(context.tool_name)}(?![\w-])", text) is not None
    if names_it and is_usual:
        return "a record of the call, as every call leaves one"
    if names_it and context.usual is None and contains_call(text, context):
        return "a record of the call, which names the tool, with its arguments or the time"
    if is_usual and effect.kind is Kind.APPEND and is_log(text):
        return "lines of a log that every call adds to"
    return ""


def is_log(text: str) -> bool:
    """Return whether the first line and at least half of all lines begin with a time or level."""
    lines = [line for line in text.splitlines() if line.strip()]
    matches = [LOG_LINE.match(line) is not None for line in lines]
    return bool(lines) and matches[0] and sum(matches) * 2 >= len(lines)


def contains_call(text: str, context: CallContext) -> bool:
    """Return whether a record contains a time, or the names of all arguments."""
    has_time = re.search(r"\d{4}-\d\d-\d\d|\d\d:\d\d:\d\d|\b1[5-9]\d{8}(?:\d{3})?\b", text)
    names = context.arguments
    return has_time is not None or (bool(names) and all(f'"{name}' in text for name in names))


def is_shown(effect: Effect, context: CallContext) -> bool:
    """Return whether results of other tools contain a value that an effect added or removed."""
    return any(
        any(value in result for result in context.shown)
        for value in _differing(effect)
        if value != context.tool_name and not LOG_LINE.match(value)
    )


def _differing(effect: Effect) -> Iterator[str]:
    if "#" in effect.target:
        if effect.kind is Kind.UPDATE:
            yield from (
                part for part in CHANGE.split(effect.detail) if len(part) >= MIN_VALUE_CHARACTERS
            )
        else:
            yield from _values(effect.detail)
        return
    before, after = (
        (content_of(blob) or b"").decode("utf-8", errors="replace")
        for blob in (effect.before, effect.after)
    )
    yield from (value for value in _values(after) if value not in before)
    yield from (value for value in _values(before) if value not in after)


def _values(text: str) -> Iterator[str]:
    for line in [text, *text.splitlines()[-MOST_WORDS:]]:
        try:
            yield from _leaves(json.loads(line))
        except (ValueError, RecursionError):
            yield from _leaves(line.strip())


def _leaves(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        if len(value) >= MIN_VALUE_CHARACTERS:
            yield value
    elif isinstance(value, dict):
        for item in cast("dict[str, Any]", value).values():
            yield from _leaves(item)
    elif isinstance(value, list):
        for item in cast("list[Any]", value):
            yield from _leaves(item)
