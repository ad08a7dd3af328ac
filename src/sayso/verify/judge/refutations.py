"""The effects that contradict the looser value of a hint."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final, cast

from sayso.trace import Effect, Kind, Life, Loss
from sayso.verify.judge.tool_evidence import Profile

SAFE_METHODS: Final = ("GET ", "HEAD ", "OPTIONS ", "TRACE ")
"""HTTP methods that request no change (RFC 9110, 9.2.1)."""
_UNSAFE: Final = re.compile(r"[A-Z]+ /")

_NUMBERS: Final = frozenset({"id", "rowid", "oid", "uid", "uuid"})
_TIME: Final = re.compile(r"\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}")
_REACHING: Final = frozenset({Kind.CONNECT, Kind.SEND, Kind.LOOKUP, Kind.INSTALL})


def against_read_only(effects: Iterable[Effect]) -> list[Effect]:
    """Return the effects that change user data or a remote resource.

    A connection, lookup, datagram or GET is no change; it contradicts only `open_world`. A request
    whose HTTP method the observers cannot read, as with TLS, is no change either.
    """
    return [effect for effect in effects if effect.life is Life.USER or _changes_elsewhere(effect)]


def against_non_destructive(effects: Iterable[Effect], profile: Profile) -> list[Effect]:
    """Return the effects that lose user data. A row that is inserted again is not lost."""
    found = [effect for effect in effects if effect.life is Life.USER]
    return [effect for effect in _without_replaced(found) if _loses(effect, profile)]


def against_closed_world(effects: Iterable[Effect]) -> list[Effect]:
    """Return the effects that reach the outside, or try to."""
    return [
        effect for effect in effects if effect.life is Life.EXTERNAL and effect.kind in _REACHING
    ]


def against_idempotent(effects: Iterable[Effect]) -> list[Effect]:
    """Return a repeated call's effects on user data. Writes of the same values do not count."""
    found = [
        effect
        for effect in effects
        if effect.life is Life.USER and not effect.is_failed and not effect.has_same_bytes
    ]
    return _without_replaced(found)


def _without_replaced(effects: Sequence[Effect]) -> list[Effect]:
    """Drop the removals of rows that the same call inserts again, and those insertions."""
    rows = [(effect, _row_of(effect)) for effect in effects]
    removed = Counter(row for effect, row in rows if row and effect.kind is Kind.REMOVE)
    inserted = Counter(row for effect, row in rows if row and effect.kind is Kind.INSERT)
    return [effect for effect, row in rows if row is None or removed[row] != inserted[row]]


def _row_of(effect: Effect) -> tuple[str, str] | None:
    """Return the table and the values of a removed or inserted row, or `None`.

    A row's own number and its times are left out: a row that is removed and inserted again has
    other ones.
    """
    table, _, key = effect.target.rpartition("/")
    if effect.kind not in (Kind.REMOVE, Kind.INSERT) or "#" not in table:
        return None
    try:
        values: object = json.loads(effect.detail)
    except ValueError:
        return None
    if not isinstance(values, dict):
        return None
    row = cast("dict[str, object]", values)
    kept = {
        name: value
        for name, value in row.items()
        if not (name.casefold() in _NUMBERS and str(value) == key)
        and not (isinstance(value, str) and _TIME.match(value))
    }
    return table, json.dumps(kept, sort_keys=True)


def _changes_elsewhere(effect: Effect) -> bool:
    if effect.life is not Life.EXTERNAL or effect.kind is not Kind.SEND:
        return False
    return bool(_UNSAFE.match(effect.detail)) and not effect.detail.startswith(SAFE_METHODS)


def _loses(effect: Effect, profile: Profile) -> bool:
    if effect.is_failed:
        return False
    if profile is Profile.SPEC:
        return effect.loss in (Loss.LOST, Loss.OVERWROTE)
    return effect.loss is Loss.LOST and not effect.recoverable
