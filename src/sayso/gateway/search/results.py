"""What a search gives back: a page of tools that a model can read and call, within a limit."""

import json
from collections.abc import Mapping
from typing import Any, Final

from sayso.catalog import Found, Tool
from sayso.guard import Answer
from sayso.intent import WIRE_NAMES
from sayso.prompt import TITLE_LIMIT, tame
from sayso.schema import brief, retold, size

_DESCRIPTION: Final = 600
_ARGUMENT: Final = 300
_SCHEMA: Final = 6_000
"""Characters of a tool's description, of one argument's, and of its whole schema."""


def describe(tool: Tool, name: str) -> dict[str, Any]:
    """One tool, called `name`, with its server's texts as data: tamed, and bounded."""
    said = tool.raw.get("description")
    schema = tool.input_schema or {"type": "object"}
    told = retold(schema, lambda text: tame(text, _ARGUMENT))
    return {
        "name": name,
        "title": tame(tool.title, TITLE_LIMIT),
        "description": tame(said, _DESCRIPTION) if isinstance(said, str) else "",
        "level": str(tool.level),
        "hints": {wire: tool.resolved[hint].value for hint, wire in WIRE_NAMES.items()},
        "inputSchema": told if size(told) <= _SCHEMA else brief(schema, limit=_SCHEMA),
    }


def fitting(entries: list[dict[str, Any]], room: int) -> int:
    """How many of `entries`, from the first, have room; one in any case."""
    for count, entry in enumerate(entries):
        room -= size(entry) + 1
        if room < 0:
            return max(count, 1)
    return len(entries)


def answer(entries: list[dict[str, Any]], found: Found) -> Answer:
    """The result; its text says the same as its structure."""
    structured: dict[str, Any] = {"tools": entries, "total": found.total}
    if found.next_cursor is not None:
        structured["nextCursor"] = found.next_cursor
    return {"content": [_text(structured)], "structuredContent": structured}


def _text(structured: Mapping[str, Any]) -> dict[str, str]:
    text = json.dumps(structured, ensure_ascii=False, separators=(",", ":"))
    return {"type": "text", "text": text}
