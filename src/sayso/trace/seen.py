"""How a call is told as an effect of this observer."""

from dataclasses import replace
from typing import Final

from sayso.trace.arguments import Call
from sayso.trace.effect import Effect, Kind, Observer
from sayso.trace.noise import is_noise

REFUSALS: Final = frozenset(
    {"EROFS", "EACCES", "EPERM", "ENOSPC", "EDQUOT", "EFBIG", "EIO", "ETXTBSY"}
)
"""Errors of an attempt that would have changed something. Others mean: there was nothing to do."""


def tell(kind: Kind, target: str, *, detail: str = "", is_failed: bool = False) -> Effect:
    """An effect, not yet of a call."""
    return Effect(kind, target, Observer.SYSCALLS, detail=detail, is_failed=is_failed)


def tell_of_file(call: Call, kind: Kind, path: str | None, detail: str = "") -> tuple[Effect, ...]:
    """The effect of a call on a file: done, refused, or none where it changed nothing."""
    if path is None or call.result is None or is_noise(path):
        return ()
    if call.result >= 0:
        return (tell(kind, path, detail=detail),)
    if call.error not in REFUSALS:
        return ()
    failed = tell(kind, path, detail=detail, is_failed=True)
    return (replace(failed, detail=f"{detail}; {call.error}".lstrip("; ")),)
