"""Sentences that describe a call's effect, for questions, chats and logs.

`sayso-confirm.js` writes the same sentences; `tests/approvals/sentences.json` tests both.
"""

import json
import re
from collections.abc import Mapping
from typing import Any, Final, cast

from sayso.catalog import as_tool
from sayso.intent import Hints, Level, read_tool
from sayso.schema import plain, redact

_GAP: Final = re.compile(r"\{([A-Za-z_][A-Za-z0-9_.]*)\}")
_LONGEST_VALUE: Final = 120
_LONGEST: Final = 400
_LONGEST_LIST: Final = 80


def say_call(tool: object, arguments: Mapping[str, Any]) -> str:
    """Describe the effect of a call of `tool` with these arguments, in one line.

    `tool` is a catalog tool, an SDK tool, a `ToolDefinition`, an entry of `tools/list`, or a tool
    of the console's API. Take the last two from the gateway, because the level they state is used.
    The author's sentence is preferred. Secrets are masked, and control characters are removed.

    >>> say_call({"title": "Send mail", "level": "destructive"}, {"to": "amy@example.com"})
    'This may delete, overwrite or send something: Send mail (to amy@example.com). Proceed?'
    """
    title, level, confirm = _parts(tool)
    values: Mapping[str, Any] = redact(arguments)
    if confirm:
        sentence = fill(confirm, values)
    else:
        what = f"{title}{which(values) or _listed(values)}"
        sentence = sentence_of(what, level, {}) or f"This only reads: {what}."
    return plain(_cut(sentence, _LONGEST))


def _parts(value: object) -> tuple[str, Level, str | None]:
    if not isinstance(value, Mapping):
        catalog_tool = as_tool(value)
        return catalog_tool.title, catalog_tool.level, catalog_tool.intent.confirm
    tool = cast("Mapping[str, Any]", value)
    intent = read_tool(tool).intent
    level = tool.get("level")
    confirm = tool.get("confirm")
    name = tool.get("name")
    if not isinstance(level, str) or level not in set(Level):
        level = _declared(intent.hints.with_defaults())
    if not isinstance(confirm, str) or not confirm:
        confirm = intent.confirm
    if not isinstance(name, str) or not name.strip():
        name = "a tool"
    return intent.title or name, Level(level), confirm


def _declared(hints: Hints) -> Level:
    if hints["read_only"]:
        return Level.READ
    return Level.DESTRUCTIVE if hints["destructive"] else Level.WRITE


def _listed(values: Mapping[str, Any]) -> str:
    parts: list[str] = []
    for name, value in values.items():
        part = f"{name} {shown(value)}"
        if len(", ".join([*parts, part])) > _LONGEST_LIST:
            if parts:
                parts.append("…")
            break
        parts.append(part)
    return "" if not parts else f" ({', '.join(parts)})"


def fill(template: str, values: Mapping[str, Any]) -> str:
    """Fill an author's sentence with values of arguments and plan; unknown placeholders stay.

    >>> fill("Delete {customer.name}?", {"customer": {"name": "Amy"}})
    'Delete Amy?'
    """
    return _GAP.sub(lambda gap: _filled(gap, values), template)


def sentence_of(title: str, level: Level, values: Mapping[str, Any]) -> str | None:
    """Return sayso's own sentence about a call, from title and level; `None` for reads.

    >>> sentence_of("Delete customer", Level.DESTRUCTIVE, {"customer_id": 42})
    'This may delete, overwrite or send something: Delete customer 42. Proceed?'
    """
    if level is Level.READ:
        return None
    if level is Level.WRITE:
        return f"About to {_lowered(title)}{which(values)}. OK?"
    return f"This may delete, overwrite or send something: {title}{which(values)}. Proceed?"


def _filled(gap: re.Match[str], values: Mapping[str, Any]) -> str:
    value: Any = values
    for step in gap[1].split("."):
        if not isinstance(value, Mapping) or step not in value:
            return gap[0]
        value = cast("Mapping[str, Any]", value)[step]
    return shown(value)


def which(values: Mapping[str, Any]) -> str:
    """Return a space and the only id argument, such as ` 42`; empty for none or several."""
    ids = [value for name, value in values.items() if name == "id" or name.endswith(("_id", "Id"))]
    if len(ids) != 1 or not isinstance(ids[0], int | str):
        return ""
    return f" {shown(ids[0])}"


def _lowered(title: str) -> str:
    """Return a title with a small first letter, for use inside a sentence; acronyms stay."""
    if title[1:2].isupper():
        return title
    return f"{title[:1].lower()}{title[1:]}"


def shown(value: Any) -> str:
    """Return a value as text, shortened: a string unchanged, any other value as JSON."""
    if not isinstance(value, str):
        value = json.dumps(value, ensure_ascii=False)
    return _cut(value, _LONGEST_VALUE)


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[:limit]}…"
