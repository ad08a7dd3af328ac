"""JSON as it is written into the log: quickly, and in a form that every database holds."""

import json
from typing import Any, Final

import msgspec

from sayso.catalog import Tool

_ENCODER: Final = msgspec.json.Encoder()


def to_text(value: Any) -> str:
    """Return `value` as JSON in ASCII, whatever a stranger's text is made of."""
    try:
        return _ENCODER.encode(value).decode("ascii")
    except (UnicodeError, TypeError):
        # Letters beyond ASCII, half a surrogate pair, or a type that only the library knows.
        return json.dumps(value, separators=(",", ":"))


def to_array(parts: list[str | int]) -> bytes:
    """Return strings and integers as canonical JSON (RFC 8785), an array without spaces.

    Raises `UnicodeEncodeError` for half of a surrogate pair.
    """
    return _ENCODER.encode(parts)


def joined(first: str, second: str) -> str:
    """Return two objects, neither of them empty, as one."""
    return f"{first[:-1]},{second[1:]}"


def describe(tool: Tool) -> str:
    """Return what every line about a tool says of it, as a JSON object."""
    return to_text(
        {
            "server": tool.server,
            "tool": tool.name,
            "title": tool.title,
            "fingerprint": tool.fingerprint,
            "level": str(tool.level),
            "hints": tool.resolved.to_dict(),
        }
    )
