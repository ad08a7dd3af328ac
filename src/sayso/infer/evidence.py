"""All that the model weighs of one tool: features of its words, and the verdict on its clauses."""

from collections.abc import Mapping
from typing import Any

from sayso.infer.certain import Certainty, certainty
from sayso.infer.features import Features, features


def evidence(tool: Mapping[str, Any]) -> tuple[Features, Certainty]:
    """Return the features of `tool`, an entry of `tools/list`, and how certain it is to read."""
    found = features(tool)
    certain = certainty(tool)
    found.update(dict.fromkeys(_of_clauses(certain), ("clauses",)))
    return found, certain


def _of_clauses(certain: Certainty) -> list[str]:
    if not certain.is_readable:
        return ["cl:unreadable"]
    grade = "certain" if certain.is_certain else "may" if certain.may_read else "writes"
    names = [f"cl:{grade}"]
    if certain.order is not None:
        names.append("cl:order")
    if certain.loses:
        names.append("cl:loses")
    return names
