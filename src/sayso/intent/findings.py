"""Findings: problems of a declaration, for people and programs."""

from dataclasses import dataclass
from typing import Any

from sayso.intent.hints import HintName
from sayso.intent.presets import Intent


@dataclass(frozen=True, slots=True)
class Finding:
    """One problem of a tool's declaration.

    `code` is stable: it completes the comment `# sayso: allow`. `hint` is the affected hint if any.
    """

    code: str
    message: str
    hint: HintName | None = None

    def to_dict(self) -> dict[str, Any]:
        fields = {"code": self.code, "message": self.message, "hint": self.hint}
        return {name: value for name, value in fields.items() if value is not None}


def contradictions(intent: Intent) -> tuple[Finding, ...]:
    """Return the contradictions and the empty names in `intent`.

    A read-only tool destroys nothing (MCP, ToolAnnotations: the write hints are meaningful only
    when `readOnlyHint` is false), has no confirmation text, and plans no change.
    """
    findings: list[Finding] = []
    if intent.hints.read_only:
        findings += _read_only_contradictions(intent)
    for name in ("scopes", "roles", "tags"):
        if not all(word.strip() for word in getattr(intent, name)):
            findings.append(Finding(f"empty-{name[:-1]}", f"{name} contains an empty name"))
    return tuple(findings)


def _read_only_contradictions(intent: Intent) -> list[Finding]:
    findings: list[Finding] = []
    if intent.hints.destructive:
        message = "declared read-only and destructive; treated as destructive"
        findings.append(Finding("read-only-destructive", message, "destructive"))
    if intent.confirm is not None:
        findings.append(
            Finding("read-only-confirms", "declared read-only, but has a confirmation text")
        )
    if intent.plan is not None:
        findings.append(Finding("read-only-plans", "declared read-only, but has a plan"))
    if intent.dry_run is not None:
        findings.append(Finding("read-only-plans", "declared read-only, but has a dry run"))
    return findings
