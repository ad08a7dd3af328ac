"""The claims of a submission to an app store: each hint of a tool, with a justification."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from sayso.intent import DEFAULTS, LOOSER, WIRE_NAMES, HintName
from sayso.lint.stores.store import Store
from sayso.lint.subject import Subject

_MAX_REASONS: Final = 2
_RECEIPTS: Final = {
    "supported": "supported",
    "refuted": "refuted",
    "not_exercised": "not exercised",
}
NOT_VERIFIED: Final = "not verified"
"""The text for a hint on which no receipt has a verdict."""


class Basis(StrEnum):
    """The reason for the value of a hint in a submission."""

    DECLARED = "declared"
    RECEIPT = "receipt"
    SOURCE = "source"
    IMPLIED = "implied"
    STORE = "store"
    INFERRED = "inferred"
    DEFAULT = "default"


@dataclass(frozen=True, slots=True)
class Claim:
    """One hint of one tool in a submission.

    Unless `is_settled`, the claim is a proposal that the author must confirm. `doubts` are reasons
    against the value. `receipt` is the verdict of a receipt (a signed test result).
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
    """Return claims for the hints that the store requires, as it orders and defines them."""
    claims: dict[HintName, Claim] = {}
    for name in store.hints:
        claims[name] = _claim(tool, store, name, claims.get("read_only"))
    return claims


def _claim(tool: Subject, store: Store, name: HintName, reads: Claim | None) -> Claim:
    ground = _as_meant(tool, store, name, _ground(tool, name, reads), reads)
    doubts = [*_doubts(tool, name, value=ground.value), *_unlike(store, name, ground, reads)]
    is_known = ground.basis in (Basis.DECLARED, Basis.RECEIPT)
    follows = ground.basis is Basis.IMPLIED and (reads is None or reads.is_settled)
    is_settled = (is_known or follows) and not doubts
    sentence = f"{store.claims[name][ground.value]}{ground.why}."
    justification = f"Proposed: {sentence}"
    if is_settled:
        justification = sentence[0].upper() + sentence[1:]
    return Claim(
        ground.value,
        ground.basis,
        is_settled,
        justification,
        receipt=_RECEIPTS.get(tool.verdicts.get(name, ""), NOT_VERIFIED),
        doubts=tuple(doubts),
    )


def _ground(tool: Subject, name: HintName, reads: Claim | None) -> _Ground:
    """Return a hint's value as the specification defines the hint.

    Evidence against a declaration overrides it. Support counts only if nothing is declared.
    """
    verdict = tool.verdicts.get(name)
    declared = tool.hints[name]
    if verdict == "refuted":
        return _Ground(DEFAULTS[name], Basis.RECEIPT, "; a receipt of its calls shows it")
    if declared is not DEFAULTS[name] and (deed := _deed(tool, name)):
        return _Ground(DEFAULTS[name], Basis.SOURCE, f"; its source does: {deed}")
    if name == "read_only" and declared is not False and tool.hints.destructive:
        why = ", since it is declared destructive"
        return _Ground(value=False, basis=Basis.IMPLIED, why=why)
    if declared is not None:
        return _Ground(declared, Basis.DECLARED, _declared(tool, name, value=declared))
    if verdict == "supported":
        return _Ground(LOOSER[name], Basis.RECEIPT, "; a receipt of its calls supports it")
    if name == "destructive" and reads is not None and reads.value:
        return _Ground(value=False, basis=Basis.IMPLIED, why=", since it only reads")
    return _undeclared(tool, name)


def _undeclared(tool: Subject, name: HintName) -> _Ground:
    guess = tool.guesses.get(name)
    if guess is None:
        why = "; it is not declared, so this is the specification's default"
        return _Ground(DEFAULTS[name], Basis.DEFAULT, why)
    why = "; ".join(guess.reasons[:_MAX_REASONS])
    return _Ground(guess.value, Basis.INFERRED, f", by its text ({why})")


def _declared(tool: Subject, name: HintName, *, value: bool) -> str:
    words = ", as its author declares"
    guess = tool.guesses.get(name)
    if guess is not None and guess.value is value:
        words += f", and by its text ({'; '.join(guess.reasons[:_MAX_REASONS])})"
    if value is LOOSER[name] and tool.verdicts.get(name) == "supported":
        words += ", and a receipt of its calls supports it"
    return words


def _as_meant(
    tool: Subject, store: Store, name: HintName, ground: _Ground, reads: Claim | None
) -> _Ground:
    """Return the hint's value as the store defines the hint, with the reason."""
    if name == "read_only" and ground.value and (sign := _sign(tool, store)):
        why = f": its description says “{sign}”, which this store does not count as read-only"
        return _Ground(value=False, basis=Basis.STORE, why=why)
    if reads is None:
        return ground
    if name in store.never_on_reads and ground.value and reads.value:
        return _Ground(value=False, basis=Basis.IMPLIED, why=", since it only reads")
    if name in store.on_every_write and not ground.value and not reads.value:
        why = " in this store's meaning; the specification means only a possible loss of data"
        return _Ground(value=True, basis=Basis.STORE, why=why)
    return ground


def _sign(tool: Subject, store: Store) -> str:
    text = tool.description.lower()
    signs = (sign for sign in store.signs if re.search(rf"\b{re.escape(sign)}\b", text))
    return next(signs, "")


def _deed(tool: Subject, name: HintName) -> str:
    return next(
        (f"{deed.file}:{deed.line} {deed.what}" for deed in tool.deeds if deed.against == name), ""
    )


def _doubts(tool: Subject, name: HintName, *, value: bool) -> list[str]:
    """Return reasons against `value`: a text that contradicts it, or a different declaration."""
    doubts: list[str] = []
    if value is LOOSER[name] and (guess := tool.doubt(name, value=not value)):
        doubts.append(f"its text contradicts this: {'; '.join(guess.reasons)}")
    declared = tool.hints[name]
    if declared is not None and declared is not value:
        doubts.append(f"{WIRE_NAMES[name]} is declared {str(declared).lower()}")
    return doubts


def _unlike(store: Store, name: HintName, ground: _Ground, reads: Claim | None) -> list[str]:
    """Return a doubt if the hint is declared, but the store means something else by it."""
    is_open = name in store.unlike_on_writes and ground.basis is Basis.DECLARED
    if not is_open or ground.value is not LOOSER[name] or (reads is not None and reads.value):
        return []
    return ["the declaration has the specification's meaning, which differs from this store's"]
