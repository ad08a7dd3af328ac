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
        "tools": [_tool(one) for one in made.tools],
        "prompts": {"positive": _prompts(made.positive), "negative": _prompts(made.negative)},
        "findings": [
            {
                "code": one.code,
                "name": one.name,
                "severity": str(one.severity),
                "tool": one.tool or None,
                "message": one.message,
            }
            for one in made.findings
        ],
    }
    return json.dumps(document, indent=2) + "\n"


def _tool(one: Submitted) -> dict[str, Any]:
    return {
        "name": one.name,
        "title": {"value": one.title, "settled": one.has_title},
        "annotations": one.annotations,
        "hints": {name: _claim(claim) for name, claim in one.claims.items()},
        "confirm": one.confirm,
    }


def _claim(one: Claim) -> dict[str, Any]:
    return {
        "value": one.value,
        "source": str(one.basis),
        "settled": one.is_settled,
        "justification": one.justification,
        "receipt": one.receipt,
        "doubts": list(one.doubts),
    }


def _prompts(names: tuple[str, ...]) -> list[dict[str, str | None]]:
    return [{"tool": name, "prompt": None, "expected": None} for name in names]
