"""The effects that contradict the looser value of a hint."""

import re
from collections.abc import Iterable
from typing import Final

from sayso.trace import Effect, Kind, Life, Loss
from sayso.verify.judge.tool_evidence import Profile

SAFE_METHODS: Final = ("GET ", "HEAD ", "OPTIONS ", "TRACE ")
"""HTTP methods that request no change (RFC 9110, 9.2.1)."""
_UNSAFE: Final = re.compile(r"[A-Z]+ /")

_REACHING: Final = frozenset({Kind.CONNECT, Kind.SEND, Kind.LOOKUP, Kind.INSTALL})


def against_read_only(effects: Iterable[Effect]) -> list[Effect]:
    """Return the effects that change user data or a remote resource.

    A connection, lookup, datagram or GET is no change; it contradicts only `open_world`. A request
    whose HTTP method the observers cannot read, as with TLS, is no change either.
    """
    return [effect for effect in effects if effect.life is Life.USER or _changes_elsewhere(effect)]


def against_non_destructive(effects: Iterable[Effect], profile: Profile) -> list[Effect]:
    """Return the effects that lose user data."""
    return [effect for effect in effects if effect.life is Life.USER and _loses(effect, profile)]


def against_closed_world(effects: Iterable[Effect]) -> list[Effect]:
    """Return the effects that reach the outside, or try to."""
    return [
        effect for effect in effects if effect.life is Life.EXTERNAL and effect.kind in _REACHING
    ]


def against_idempotent(effects: Iterable[Effect]) -> list[Effect]:
    """Return a repeated call's effects on user data. Writes of the same bytes do not count."""
    return [
        effect
        for effect in effects
        if effect.life is Life.USER and not effect.is_failed and not effect.has_same_bytes
    ]


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
