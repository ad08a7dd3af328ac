"""What a submission claims of one tool: each hint as the store means it, with one sentence why."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from sayso.intent import DEFAULTS, LOOSER, WIRE_NAMES, HintName
from sayso.lint.stores.store import Store
from sayso.lint.subject import Subject

_MOST_REASONS: Final = 2
_RECEIPTS: Final = {
    "supported": "supported",
    "refuted": "refuted",
    "not_exercised": "not exercised",
}
NOT_VERIFIED: Final = "not verified"
"""What is said of a hint of which no receipt says anything."""


class Basis(StrEnum):
    """Why a hint has its value in a submission."""

    DECLARED = "declared"
    RECEIPT = "receipt"
    SOURCE = "source"
    IMPLIED = "implied"
    STORE = "store"
    INFERRED = "inferred"
    DEFAULT = "default"


@dataclass(frozen=True, slots=True)
class Claim:
    """One hint of one tool, as it would be submitted.

    One that is not `is_settled` is a proposal: its author must confirm it, and `doubts` say what
    speaks against it. `receipt` is what a receipt says of the hint.
    """

    value: bool
    basis: Basis
    is_settled: bool
    justification: str
    receipt: str = NOT_VERIFIED
    doubts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Ground:
    value: bool
    basis: Basis
    why: str


def claims_of(tool: Subject, store: Store) -> Mapping[HintName, Claim]:
    """The hints that a store wants of a tool, in its order, as it means them."""
    made: dict[HintName, Claim] = {}
    for name in store.hints:
        made[name] = _claim(tool, store, name, made.get("read_only"))
    return made


def _claim(tool: Subject, store: Store, name: HintName, reads: Claim | None) -> Claim:
    ground = _as_meant(tool, store, name, _ground(tool, name, reads), reads)
    doubts = [*_doubts(tool, name, value=ground.value), *_unlike(store, name, ground, reads)]
    is_said = ground.basis in (Basis.DECLARED, Basis.RECEIPT)
    follows = ground.basis is Basis.IMPLIED and (reads is None or reads.is_settled)
    is_settled = (is_said or follows) and not doubts
    sentence = f"{store.claims[name][ground.value]}{ground.why}."
    told = f"Proposed: {sentence}"
    if is_settled:
        told = sentence[0].upper() + sentence[1:]
    return Claim(
        ground.value,
        ground.basis,
        is_settled,
        told,
        receipt=_RECEIPTS.get(tool.verdicts.get(name, ""), NOT_VERIFIED),
        doubts=tuple(doubts),
    )


def _ground(tool: Subject, name: HintName, reads: Claim | None) -> _Ground:
    """The value as the specification means it: what is known outranks what is said or guessed."""
    verdict = tool.verdicts.get(name)
    declared = tool.hints[name]
    if verdict == "refuted":
        return _Ground(DEFAULTS[name], Basis.RECEIPT, "; a receipt of its calls shows so")
    if declared is not DEFAULTS[name] and (deed := _deed(tool, name)):
        return _Ground(DEFAULTS[name], Basis.SOURCE, f"; its source does: {deed}")
    if name == "read_only" and declared is not False and tool.hints.destructive:
        why = ", since it is declared to destroy"
        return _Ground(value=False, basis=Basis.IMPLIED, why=why)
    if declared is not None:
        return _Ground(declared, Basis.DECLARED, _declared(tool, name, value=declared))
    if verdict == "supported":
        return _Ground(LOOSER[name], Basis.RECEIPT, "; a receipt of its calls supports it")
    if name == "destructive" and reads is not None and reads.value:
        return _Ground(value=False, basis=Basis.IMPLIED, why=", since it only reads")
    return _unsaid(tool, name)


def _unsaid(tool: Subject, name: HintName) -> _Ground:
    found = tool.guesses.get(name)
    if found is None:
        why = "; nobody says so: it is what the specification takes where nothing is said"
        return _Ground(DEFAULTS[name], Basis.DEFAULT, why)
    why = "; ".join(found.reasons[:_MOST_REASONS])
    return _Ground(found.value, Basis.INFERRED, f", by its text ({why})")


def _declared(tool: Subject, name: HintName, *, value: bool) -> str:
    words = ", as its author declares"
    found = tool.guesses.get(name)
    if found is not None and found.value is value:
        words += f", and by its text ({'; '.join(found.reasons[:_MOST_REASONS])})"
    if value is LOOSER[name] and tool.verdicts.get(name) == "supported":
        words += ", and a receipt of its calls supports it"
    return words


def _as_meant(
    tool: Subject, store: Store, name: HintName, ground: _Ground, reads: Claim | None
) -> _Ground:
    """The same where the store means by the hint what the specification does, or as it means it."""
    if name == "read_only" and ground.value and (sign := _sign(tool, store)):
        why = f": its description says “{sign}”, which this store does not call read-only"
        return _Ground(value=False, basis=Basis.STORE, why=why)
    if reads is None:
        return ground
    if name in store.never_on_reads and ground.value and reads.value:
        return _Ground(value=False, basis=Basis.IMPLIED, why=", since it only reads")
    if name in store.on_every_write and not ground.value and not reads.value:
        why = ", as this store means the word: the specification means by it that something is lost"
        return _Ground(value=True, basis=Basis.STORE, why=why)
    return ground


def _sign(tool: Subject, store: Store) -> str:
    text = tool.description.lower()
    return next(
        (
            sign
            for sign in store.signs
            if sign in text and re.search(rf"\b{re.escape(sign)}\b", text)
        ),
        "",
    )


def _deed(tool: Subject, name: HintName) -> str:
    return next(
        (f"{deed.file}:{deed.line} {deed.what}" for deed in tool.deeds if deed.against == name), ""
    )


def _doubts(tool: Subject, name: HintName, *, value: bool) -> list[str]:
    """What speaks against a value that permits more, or against what its author has declared."""
    said: list[str] = []
    if value is LOOSER[name] and (found := tool.doubt(name, value=not value)):
        said.append(f"its text speaks against it: {'; '.join(found.reasons)}")
    declared = tool.hints[name]
    if declared is not None and declared is not value:
        said.append(f"{WIRE_NAMES[name]} is declared {str(declared).lower()}")
    return said


def _unlike(store: Store, name: HintName, ground: _Ground, reads: Claim | None) -> list[str]:
    """What a declaration leaves open, where the store means something else by the hint."""
    is_open = name in store.unlike_on_writes and ground.basis is Basis.DECLARED
    if not is_open or ground.value is not LOOSER[name] or (reads is not None and reads.value):
        return []
    return ["what is declared has the specification's meaning, which is not this store's"]
