"""The modes: what decides where no rule matches."""

from typing import Final

from sayso.intent import Level, ResolvedIntent
from sayso.policy.decision import Decision, Effect, Mode

_ASKS_ABOUT_RISKS: Final = (Mode.GUARDED, Mode.UNATTENDED)
"""Modes that let a write run without a question where nothing can be lost by it."""


def decide_by_mode(mode: Mode, intent: ResolvedIntent) -> Decision:
    """The decision of `mode` alone on a call with `intent`.

    `observe` allows everything; what it would have done is what `guarded` does. What is not a
    `Mode` denies everything, reads too.

    >>> from sayso.intent import Evidence, resolve
    >>> decide_by_mode(Mode.GUARDED, resolve(Evidence())).effect
    <Effect.CONFIRM: 'confirm'>
    """
    rule = f"mode:{mode}"
    if not isinstance(mode, Mode):  # pyright: ignore[reportUnnecessaryIsInstance] - a program may give anything
        return Decision(Effect.DENY, rule, f"{mode!r} is not a mode")
    if intent.level is Level.READ:
        return Decision(Effect.ALLOW, rule, "it only reads")
    what, is_risky = _describe(intent)
    if mode is Mode.OBSERVE or (mode in _ASKS_ABOUT_RISKS and not is_risky):
        return Decision(Effect.ALLOW, rule, what)
    if mode is Mode.GUARDED or mode is Mode.STRICT:
        return Decision(Effect.CONFIRM, rule, what)
    if mode is Mode.PLAN:
        return Decision(Effect.DENY, rule, f"{what}, and only reads run while planning")
    return Decision(Effect.DENY, rule, f"{what}, and nobody is there to ask")


def _describe(intent: ResolvedIntent) -> tuple[str, bool]:
    """What a write does in words, and whether the guarded mode asks about it."""
    if intent.level is not Level.WRITE:
        return "it may destroy or overwrite something", True
    if intent.open_world.value is not False and intent.idempotent.value is not True:
        return "it reaches the outside world and must not happen twice", True
    return "it writes, and nothing is lost by it", False
