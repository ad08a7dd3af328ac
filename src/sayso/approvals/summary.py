"""One sentence that says what a call will do, for chats and logs; `sayso-confirm.js` has the same.

`tests/approvals/sentences.json` holds both to the same words.
"""

from collections.abc import Mapping
from typing import Any, Final, cast

from sayso.approvals.confirmation import fill, sentence_of, shown, which
from sayso.catalog import as_tool
from sayso.intent import Hints, Level, read_tool
from sayso.schema import plain, redact

_LONGEST: Final = 400
_LONGEST_LIST: Final = 80


def say_call(tool: object, arguments: Mapping[str, Any]) -> str:
    """What a call of `tool` with these arguments will do, in one sentence on one line.

    `tool` is a catalog tool, a tool of the SDK, a `ToolDefinition`, an entry of `tools/list`, or
    what the API for screens gives. Of the last two its own word counts for its level, so let it
    come through the gateway. The author's sentence is taken
    where there is one. Secrets are masked, and no character in it steers anything.

    >>> say_call({"title": "Send mail", "level": "destructive"}, {"to": "amy@example.com"})
    'This may delete, overwrite or send something: Send mail (to amy@example.com). Proceed?'
    """
    title, level, confirm = _parts(tool)
    known: Mapping[str, Any] = redact(arguments)
    said = fill(confirm, known) if confirm else _say(title, level, known)
    return plain(said if len(said) <= _LONGEST else f"{said[:_LONGEST]}…")


def _parts(given: object) -> tuple[str, Level, str | None]:
    if not isinstance(given, Mapping):
        known = as_tool(given)
        return known.title, known.level, known.intent.confirm
    tool = cast("Mapping[str, Any]", given)
    intent = read_tool(tool).intent
    said = tool.get("level")
    level = (
        Level(said)
        if isinstance(said, str) and said in set(Level)
        else _declared(intent.hints.with_defaults())
    )
    confirm = tool.get("confirm")
    name = tool.get("name")
    title = intent.title or (name if isinstance(name, str) and name.strip() else "a tool")
    return title, level, confirm if isinstance(confirm, str) and confirm else intent.confirm


def _declared(hints: Hints) -> Level:
    if hints["read_only"]:
        return Level.READ
    return Level.DESTRUCTIVE if hints["destructive"] else Level.WRITE


def _say(title: str, level: Level, known: Mapping[str, Any]) -> str:
    what = f"{title}{which(known) or _listed(known)}"
    if level is Level.READ:
        return f"This only reads: {what}."
    return sentence_of(what, level, {}) or what


def _listed(known: Mapping[str, Any]) -> str:
    """The arguments, as far as there is room; nothing of one is shown in part."""
    told = ""
    for name, value in known.items():
        more = f"{', ' if told else ''}{name} {shown(value)}"
        if len(told) + len(more) > _LONGEST_LIST:
            return f" ({told}, …)" if told else ""
        told += more
    return f" ({told})" if told else ""
