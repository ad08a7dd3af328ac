"""Hints under MCP's names: `annotations`, `readOnlyHint`, the SDK's `ToolAnnotations`."""

from collections.abc import Iterable, Mapping
from typing import Any, Final, cast

from sayso.errors import UsageError
from sayso.intent.hints import HINT_NAMES, WIRE_NAMES, HintName

SPELLINGS: Final[Mapping[str, HintName]] = {
    **{name: name for name in HINT_NAMES},
    **{f"{name}_hint": name for name in HINT_NAMES},
    **{wire: name for name, wire in WIRE_NAMES.items()},
}
"""Each spelling of a hint's name, with the hint."""

_ATTRIBUTES: Final[Mapping[HintName, tuple[str, ...]]] = {
    name: (f"{name}_hint", WIRE_NAMES[name], name) for name in HINT_NAMES
}
"""The attributes that may hold a hint; the first that exists counts. `readOnlyHint` is not first,
because FastMCP adds it to the SDK's annotations and warns when it is read."""


def in_own_words(fields: Mapping[str, Any], *, where: str) -> dict[str, Any]:
    """Return fields of an intent with each hint under sayso's name, and `annotations` expanded.

    Raises `UsageError` for a hint with two different values, or with one that is neither a boolean
    nor `None`.

    >>> in_own_words({"readOnlyHint": True, "title": "Notes"}, where="here")
    {'read_only': True, 'title': 'Notes'}
    """
    merged: dict[str, Any] = {}
    others = dict(fields)
    annotations = others.pop("annotations", None)
    if annotations is not None:
        _put_all(merged, _hints_in(annotations, where=where), where=where)
    _put_all(merged, others, where=where)
    return merged


def is_annotations(given: object) -> bool:
    """Return whether an object is a mapping, or has the SDK's hint attributes."""
    if isinstance(given, Mapping):
        return True
    is_new = any(hasattr(given, f"{name}_hint") for name in HINT_NAMES) and not callable(given)
    return is_new or any(hasattr(given, wire) for wire in WIRE_NAMES.values())


def _hints_in(annotations: object, *, where: str) -> dict[str, Any]:
    """Return the hints and the title that are set in annotations."""
    if not is_annotations(annotations):
        what = f"annotations must be an object or ToolAnnotations, not {annotations!r}"
        raise UsageError(what, where=where)
    if isinstance(annotations, Mapping):
        given = cast("Mapping[str, Any]", annotations)
        return {name: given[name] for name in given if name == "title" or name in SPELLINGS}
    values: dict[str, Any] = {
        name: _attribute(annotations, _ATTRIBUTES[name]) for name in HINT_NAMES
    }
    values["title"] = getattr(annotations, "title", None)
    return {name: value for name, value in values.items() if value is not None}


def _attribute(given: object, names: Iterable[str]) -> Any:
    return next((getattr(given, name) for name in names if hasattr(given, name)), None)


def _put_all(merged: dict[str, Any], added: Mapping[str, Any], *, where: str) -> None:
    for word, value in added.items():
        name = SPELLINGS.get(word, word)
        if word in SPELLINGS and value is not None and not isinstance(value, bool):
            raise UsageError(f"{word} must be True, False or None, not {value!r}", where=where)
        if name in SPELLINGS and name in merged and merged[name] is not value:
            raise UsageError(f"{name} has two values, {merged[name]} and {value}", where=where)
        merged[name] = value
