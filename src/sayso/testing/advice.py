"""Suggested declarations for the messages of assertions."""

import json

from sayso.catalog import Tool
from sayso.infer import is_unsafe_to_repeat
from sayso.intent import (
    HINT_NAMES,
    Hints,
    Intent,
    as_code,
    nearest,
    read_tool,
    supposed,
    write_annotations,
)


def suggested(tool: Tool, *, title: str | None, is_bound: bool) -> str:
    """Suggest a declaration from the tool's own hints, and for the rest from its inference."""
    declared = read_tool(tool.raw).intent.hints
    guessed = {name: guess.value for name, guess in tool.inferred.items()}
    if is_unsafe_to_repeat(tool.raw):
        guessed["idempotent"] = False
    hints = Hints(
        **{name: guessed.get(name) for name in HINT_NAMES}
        | {name: declared[name] for name in HINT_NAMES if declared[name] is not None}
    )
    whole = supposed(hints)
    if whole is None:
        return f"declare what it does{_named(title)}, with a preset such as sayso.READ_ONLY"
    advice = how(Intent(whole), title=title, is_bound=is_bound)
    if declared.is_complete:
        return advice
    return f"if its name and texts say what it does, {advice}"


def how(intent: Intent, *, title: str | None = None, is_bound: bool) -> str:
    """Return how to declare an intent: with sayso, or as annotations on the wire.

    >>> from sayso import DELETE
    >>> how(DELETE, title="Delete it", is_bound=True)
    'declare it as sayso.DELETE, title="Delete it"'
    """
    code = as_code(intent.hints)
    if is_bound:
        return f"declare it as {code}{_named(title)}"
    hints = nearest(intent.hints)[1].hints
    whole = Hints(
        **{
            name: hints[name] if intent.hints[name] is None else intent.hints[name]
            for name in HINT_NAMES
        }
    )
    wire = json.dumps(write_annotations(whole, title), ensure_ascii=False)
    return f"give it the annotations {wire} (with sayso.bind: {code})"


def _named(title: str | None) -> str:
    if not title:
        return ""
    return f', title="{title}"'
