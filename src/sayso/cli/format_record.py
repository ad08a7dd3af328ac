"""One line of the log for a person: important fields first, repeated ones left out."""

import json
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, Final, cast

_FIRST: Final = (
    "outcome", "severity", "subject", "client", "server", "tool", "name", "title", "level",
    "hints", "decision", "rule", "reason", "would_be", "approval", "channel", "answered_by",
    "arguments", "reached", "milliseconds", "call",
)  # fmt: skip
_CHAIN: Final = ("seq", "writer", "index", "previous", "key", "payload_digest", "mac")
_HEAD: Final = ("event", "at")


def local_time(at: float) -> str:
    """Return a timestamp in this machine's time zone."""
    return datetime.fromtimestamp(at).astimezone().strftime("%Y-%m-%d %H:%M:%S")


def tool_of(body: Mapping[str, Any]) -> str:
    """Return the tool of a line, or the requested name if no tool was found."""
    tool = ".".join(str(body[name]) for name in ("server", "tool") if name in body)
    return tool or str(body.get("name", ""))


def fields_of(body: Mapping[str, Any], before: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield a line's fields, except those with the same value in the call's previous line.

    >>> body = {"outcome": "ok", "tool": "a", "hints": {"read_only": {"value": True}}}
    >>> list(fields_of(body, {"tool": "a"}))
    [('outcome', 'ok'), ('hints', 'read_only yes')]
    """
    rest = [name for name in body if name not in (*_FIRST, *_CHAIN, *_HEAD)]
    for name in (*_FIRST, *rest, *_CHAIN):
        if name in body and (name in _CHAIN or body[name] != before.get(name)):
            words = _hints if name == "hints" else _words
            yield name, words(body[name])


def _hints(value: Any) -> str:
    try:
        hints = cast("dict[str, dict[str, Any]]", value)
        return ", ".join(f"{name} {_hint(hint)}" for name, hint in hints.items())
    except (AttributeError, KeyError, TypeError):  # a line that sayso did not write
        return _words(value)


def _hint(hint: Mapping[str, Any]) -> str:
    answer = "yes" if hint["value"] else "no"
    return f"{answer} ({hint['source']})" if "source" in hint else answer


def _words(value: Any) -> str:
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False)
