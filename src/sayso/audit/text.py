"""Fast JSON for the log, in ASCII, which every database stores."""

import json
from typing import Any, Final

import msgspec

from sayso.catalog import Tool

_ENCODER: Final = msgspec.json.Encoder()


def to_text(value: Any) -> str:
    """Return `value` as JSON in ASCII."""
    try:
        return _ENCODER.encode(value).decode("ascii")
    except (UnicodeError, TypeError):
        # Non-ASCII text, half a surrogate pair, or a type that only the library knows.
        return json.dumps(value, separators=(",", ":"))


def to_array(parts: list[str | int]) -> bytes:
    """Return strings and integers as an array in canonical JSON (RFC 8785).

    Raises `UnicodeEncodeError` for half of a surrogate pair.
    """
    return _ENCODER.encode(parts)


def joined(first: str, second: str) -> str:
    """Join two non-empty JSON objects."""
    return f"{first[:-1]},{second[1:]}"


def describe(tool: Tool) -> str:
    """Return a tool's part of every line as a JSON object."""
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
