"""Findings: what is wrong with a declaration, said so that a person and a program can act on it."""

from dataclasses import dataclass
from typing import Any

from sayso.intent.hints import HintName
from sayso.intent.presets import Intent


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing wrong with one tool's declaration.

    `code` is stable and reads after "allow"; `hint` names the hint it is about, if one.
    """

    code: str
    message: str
    hint: HintName | None = None

    def to_dict(self) -> dict[str, Any]:
        """As data, without what is unset."""
        fields = {"code": self.code, "message": self.message, "hint": self.hint}
        return {name: value for name, value in fields.items() if value is not None}


def contradictions(intent: Intent) -> tuple[Finding, ...]:
    """What in `intent` cannot hold together.

    A read-only tool has nothing to destroy (MCP, ToolAnnotations: the write hints are meaningful
    only when `readOnlyHint` is false), asks for no confirmation, and plans no change.
    """
    found: list[Finding] = []
    if intent.hints.read_only:
        found += _read_only_contradictions(intent)
    for name in ("scopes", "roles", "tags"):
        if not all(word.strip() for word in getattr(intent, name)):
            found.append(Finding(f"empty-{name[:-1]}", f"one of the {name} has no name"))
    return tuple(found)


def _read_only_contradictions(intent: Intent) -> list[Finding]:
    found: list[Finding] = []
    if intent.hints.destructive:
        message = "declared read-only and destructive; it is treated as a tool that destroys"
        found.append(Finding("read-only-destructive", message, "destructive"))
    if intent.confirm is not None:
        found.append(Finding("read-only-confirms", "declared read-only, yet it asks to confirm"))
    if intent.plan is not None:
        found.append(Finding("read-only-plans", "declared read-only, yet it plans changes"))
    if intent.dry_run is not None:
        found.append(Finding("read-only-plans", "declared read-only, yet it has a dry run"))
    return found
