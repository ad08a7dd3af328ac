"""A report as one JSON document."""

from typing import Any

from sayso.intent import HINT_NAMES
from sayso.report import write_json_document
from sayso.verify.verdict import Report


def as_json(report: Report) -> str:
    """The documented form, the same bytes for the same report."""
    document = report.to_dict()
    for tool in document["tools"]:
        tool["hints"] = _in_order(tool["hints"])
        tool["reach"]["missed"] = dict(sorted(tool["reach"]["missed"].items()))
    return write_json_document(document)


def _in_order(hints: dict[str, Any]) -> dict[str, Any]:
    return {name: hints[name] for name in HINT_NAMES if name in hints}
