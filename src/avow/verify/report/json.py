"""A report as one JSON document."""

import json
from typing import Any

from avow.intent import HINT_NAMES
from avow.verify.verdict import Report


def as_json(report: Report) -> str:
    """The documented form, the same bytes for the same report.

    Only ASCII, and DEL spelt out too, so nothing in it can steer a terminal.
    """
    document = report.to_dict()
    for tool in document["tools"]:
        tool["hints"] = _in_order(tool["hints"])
        tool["reach"]["missed"] = dict(sorted(tool["reach"]["missed"].items()))
    return json.dumps(document, indent=2, default=str).replace("\x7f", "\\u007f") + "\n"


def _in_order(hints: dict[str, Any]) -> dict[str, Any]:
    return {name: hints[name] for name in HINT_NAMES if name in hints}
