"""Declarations to write for a tool: inferred hints, completed to all that are required."""

from collections.abc import Mapping
from typing import Any, Final

from sayso.infer.repeats import is_unsafe_to_repeat
from sayso.intent import (
    DEFAULTS,
    HINT_NAMES,
    STORE_HINTS,
    Guess,
    HintName,
    Hints,
    read_tool,
    required_hints,
)

_DELETES: Final = Guess(
    value=False, confidence=1.0, reasons=("it deletes, and its text does not say it is idempotent",)
)
_DESTROYS: Final = Guess(value=False, confidence=1.0, reasons=("it is declared destructive",))
_HARMLESS: Final = "a read destroys nothing, and some stores require the hint"
_DEFAULT: Final = "nothing says otherwise, so this is the specification's default"


def undeclared(tool: Mapping[str, Any], guesses: Mapping[HintName, Guess]) -> dict[HintName, Guess]:
    """Return the guesses of hints that `tool` does not declare and that have a meaning for it.

    A delete is idempotent only if its text says so.
    """
    declared = read_tool(tool).intent.hints
    new: dict[HintName, Guess] = {
        name: guesses[name] for name in HINT_NAMES if name in guesses and declared[name] is None
    }
    if declared.destructive and "read_only" in new and new["read_only"].value:
        del new["read_only"]  # the author contradicts it
    if "idempotent" in new and new["idempotent"].value and is_unsafe_to_repeat(tool):
        new["idempotent"] = _DELETES
    meant = required_hints(is_read=bool(_merged(declared, new).read_only))
    return {name: new[name] for name in new if name in meant}


def completed(tool: Mapping[str, Any], new: Mapping[HintName, Guess]) -> dict[HintName, Guess]:
    """Return `new` plus all other hints that `tool` must declare for the strictest store.

    Unknown hints get the specification's default, which applies anyway. If nothing is declared or
    inferred, the result is empty.
    """
    declared = read_tool(tool).intent.hints
    merged = _merged(declared, new)
    if all(merged[name] is None for name in HINT_NAMES):
        return {}
    required = required_hints(is_read=bool(merged.read_only), more=STORE_HINTS)
    return {
        name: new.get(name) or _filled(name, merged) for name in required if declared[name] is None
    }


def _filled(name: HintName, merged: Hints) -> Guess:
    if name == "read_only" and merged.destructive:
        return _DESTROYS
    if name == "destructive" and merged.read_only:
        return Guess(value=False, confidence=1.0, reasons=(_HARMLESS,))
    return Guess(value=DEFAULTS[name], confidence=0.0, reasons=(_DEFAULT,))


def _merged(declared: Hints, new: Mapping[HintName, Guess]) -> Hints:
    return declared.updated(Hints(**{name: guess.value for name, guess in new.items()}))
