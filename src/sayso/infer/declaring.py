"""What to declare of a tool: what is inferred, completed to all hints that a tool must declare."""

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
_DESTROYS: Final = Guess(
    value=False, confidence=1.0, reasons=("its author declares that it destroys",)
)
_HARMLESS: Final = "a read destroys nothing, and some stores want that said"
_DEFAULT: Final = "nothing says otherwise, and it is the specification's default"


def undeclared(tool: Mapping[str, Any], said: Mapping[HintName, Guess]) -> dict[HintName, Guess]:
    """What `said` claims of hints that `tool` does not declare, where it has a meaning there.

    A delete is idempotent only where its text says so.
    """
    declared = read_tool(tool).intent.hints
    new: dict[HintName, Guess] = {
        name: said[name] for name in HINT_NAMES if name in said and declared[name] is None
    }
    if declared.destructive and "read_only" in new and new["read_only"].value:
        del new["read_only"]  # the author's word speaks against it
    if "idempotent" in new and new["idempotent"].value and is_unsafe_to_repeat(tool):
        new["idempotent"] = _DELETES
    meant = required_hints(is_read=bool(_merged(declared, new).read_only))
    return {name: new[name] for name in new if name in meant}


def completed(tool: Mapping[str, Any], new: Mapping[HintName, Guess]) -> dict[HintName, Guess]:
    """`new` with all else that `tool` must declare, for the strictest store as well.

    What nobody says gets the specification's default, which is what counts already. A tool of
    which nothing is declared or inferred stays as it is.
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
