"""Tools for the linter's tests: one that no rule has anything to say of, and what is different."""

from collections.abc import Mapping, Sequence
from typing import Any

from sayso.lint import Choice, Finding, all_rules, lint, make_listing

EVERY = Choice(all_rules())


def tool(name: str = "list_orders", **different: Any) -> dict[str, Any]:
    """A sound tool, with what is different; `None` takes a key out."""
    sound: dict[str, Any] = {
        "name": name,
        "title": f"The title of {name}",
        "description": f"Gives the open orders of one customer, newest first. {name}",
        "inputSchema": {"type": "object", "properties": {}, "additionalProperties": False},
        "annotations": {"readOnlyHint": True, "openWorldHint": False},
    }
    return {key: value for key, value in {**sound, **different}.items() if value is not None}


def hints(**said: bool | str | int | None) -> dict[str, Any]:
    """Annotations: all four hints of a tool that adds something, with what is different."""
    usual = {"readOnlyHint": False, "destructiveHint": False}
    return {**usual, "idempotentHint": False, "openWorldHint": False, **said}


def takes(*required: str, **properties: Any) -> dict[str, Any]:
    """An input schema with these arguments."""
    return {"type": "object", "properties": properties, "required": list(required)}


def findings(entries: Sequence[object], **beside: Any) -> list[Finding]:
    """Return what all rules find in a list."""
    return list(lint(make_listing("shop", entries, **beside), EVERY).findings)


def codes(entries: Sequence[object], **beside: Any) -> set[str]:
    """The codes of what all rules find in a list."""
    return {finding.code for finding in findings(entries, **beside)}


def text(description: str = "What it is", **schema: Any) -> Mapping[str, Any]:
    """The schema of a text."""
    return {"type": "string", "description": description, **schema}
