"""SARIF 2.1.0 (OASIS) documents of one run, for code scanning."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from sayso.version import __version__

_SCHEMA: Final = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)


def write_sarif(
    rules: Sequence[Mapping[str, Any]],
    results: Sequence[Mapping[str, Any]],
    *,
    properties: Mapping[str, Any],
) -> str:
    """Return the document of one run from its SARIF rules and results, in printable ASCII."""
    driver = {"name": "sayso", "semanticVersion": __version__, "rules": rules}
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "properties": properties,
        "results": results,
    }
    document = {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}
    return json.dumps(document, indent=1).replace("\x7f", "\\u007f") + "\n"


def sarif_rule(code: str, summary: str, *, meaning: str, help_: str, level: str) -> dict[str, Any]:
    """Return a rule (`reportingDescriptor`) with the default level of its results."""
    return {
        "id": code,
        "shortDescription": {"text": summary},
        "fullDescription": {"text": meaning},
        "help": {"text": help_, "markdown": help_},
        "defaultConfiguration": {"level": level},
    }
