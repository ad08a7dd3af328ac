"""A submission as one JSON document, for programs."""

import json
from typing import Any, Final

from sayso.lint.stores.claim import Claim
from sayso.lint.stores.submission import Submission, Submitted

_SCHEMA: Final = 1


def as_json(made: Submission) -> str:
    """The documented form. Only ASCII, so nothing in it can steer a terminal."""
    profile = made.store.profile
    document = {
        "schema": _SCHEMA,
        "store": {"name": made.store.name, "source": profile.source, "date": profile.date},
        "server": made.server,
        "errors": made.has_errors,
        "to_confirm": made.to_confirm,
        "meaning": dict(profile.meaning),
        "questions": dict(made.store.asks),
        "tools": [_tool(tool) for tool in made.tools],
        "prompts": {"positive": _prompts(made.positive), "negative": _prompts(made.negative)},
        "findings": [
            {
                "code": finding.code,
                "name": finding.name,
                "severity": str(finding.severity),
                "tool": finding.tool or None,
                "message": finding.message,
            }
            for finding in made.findings
        ],
    }
    return json.dumps(document, indent=2) + "\n"


def _tool(tool: Submitted) -> dict[str, Any]:
    return {
        "name": tool.name,
        "title": {"value": tool.title, "settled": tool.has_title},
        "annotations": tool.annotations,
        "hints": {name: _claim(claim) for name, claim in tool.claims.items()},
        "confirm": tool.confirm,
    }


def _claim(claim: Claim) -> dict[str, Any]:
    return {
        "value": claim.value,
        "source": str(claim.basis),
        "settled": claim.is_settled,
        "justification": claim.justification,
        "receipt": claim.receipt,
        "doubts": list(claim.doubts),
    }


def _prompts(names: tuple[str, ...]) -> list[dict[str, str | None]]:
    return [{"tool": name, "prompt": None, "expected": None} for name in names]
