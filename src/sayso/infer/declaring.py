"""Declarations to write for a tool: inferred hints, completed to all that are required.

A repeated delete may fail, or delete a new thing with the same name, so it is proposed as
idempotent only if the tool's text says so.
"""

import re
from collections.abc import Mapping
from typing import Any, Final

from sayso.infer.constraints import DESTROYS, kinds_of
from sayso.infer.features import parts_of
from sayso.infer.lexicon import KINDS, verb_of
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
from sayso.schema import text_of

_MAX_CHARACTERS: Final = 20_000
_AGAIN: Final = r"(?:again|twice|repeatedly|more than once)"
_SAYS: Final = re.compile(
    r"\bidempotent"
    r"|\bsafe(?:ly)? to (?:repeat|retry|call again|run again)"
    r"|\b(?:can|may) (?:safely )?be (?:safely )?(?:repeated|retried)"
    rf"|\b{_AGAIN}\b[^.;]{{0,40}}\b(?:nothing|no effect|no error|harmless|safe)\b",
    re.IGNORECASE,
)
_DENIES: Final = re.compile(
    r"\b(?:not|never|no|non|(?:is|are)n['’]t)\W+(?:\w+\W+){0,2}?"
    r"(?:idempotent|safe|safely|repeated|retried)",
    re.IGNORECASE,
)
_DELETES: Final = Guess(
    value=False, confidence=1.0, reasons=("the tool deletes, and its text promises no idempotence",)
)
_DESTROYS: Final = Guess(value=False, confidence=1.0, reasons=("the tool is declared destructive",))
_HARMLESS: Final = "a read destroys nothing, and some stores require the hint"
_DEFAULT: Final = "nothing says otherwise, so this is the specification's default"


def is_unsafe_to_repeat(tool: Mapping[str, Any]) -> bool:
    """Return whether a tool deletes and its text does not say that a repeat is safe.

    >>> is_unsafe_to_repeat({"name": "delete_note", "description": "Delete a note."})
    True
    >>> is_unsafe_to_repeat({"name": "delete_note", "description": "Delete a note. Idempotent."})
    False
    """
    name = text_of(tool.get("name"))[:_MAX_CHARACTERS]
    text = text_of(tool.get("description"))[:_MAX_CHARACTERS]
    first_word = re.search(r"\w+", text)
    verb = verb_of(first_word[0].lower()) if first_word else None
    is_delete = DESTROYS in kinds_of(parts_of(name)) or (verb and KINDS[verb] == DESTROYS)
    return bool(is_delete) and (_SAYS.search(text) is None or _DENIES.search(text) is not None)


def undeclared(tool: Mapping[str, Any], guesses: Mapping[HintName, Guess]) -> dict[HintName, Guess]:
    """Return the guesses of hints that `tool` does not declare and that have a meaning for it."""
    declared = read_tool(tool).intent.hints
    new: dict[HintName, Guess] = {
        name: guesses[name] for name in HINT_NAMES if name in guesses and declared[name] is None
    }
    if declared.destructive and "read_only" in new and new["read_only"].value:
        del new["read_only"]  # the author contradicts it
    if "idempotent" in new and new["idempotent"].value and is_unsafe_to_repeat(tool):
        new["idempotent"] = _DELETES
    meaningful = required_hints(is_read=bool(_merged(declared, new).read_only))
    return {name: new[name] for name in new if name in meaningful}


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
