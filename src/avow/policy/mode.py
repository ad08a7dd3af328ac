"""The modes: what decides where no rule matches."""

from avow.intent import Level, ResolvedIntent
from avow.policy.decision import Decision, Effect, Mode


def decide_by_mode(mode: Mode, intent: ResolvedIntent) -> Decision:
    """The decision of `mode` alone on a call with `intent`.

    `observe` allows everything; what it would have done is what `guarded` does.

    >>> from avow.intent import Evidence, resolve
    >>> decide_by_mode(Mode.GUARDED, resolve(Evidence())).effect
    <Effect.CONFIRM: 'confirm'>
    """
    rule = f"mode:{mode}"
    if intent.level is Level.READ:
        return Decision(Effect.ALLOW, rule, "it only reads")
    what, is_risky = _describe(intent)
    if mode is Mode.PLAN:
        return Decision(Effect.DENY, rule, f"{what}, and only reads run while planning")
    if mode is Mode.STRICT or (is_risky and mode in (Mode.GUARDED, Mode.UNATTENDED)):
        if mode is Mode.UNATTENDED:
            return Decision(Effect.DENY, rule, f"{what}, and nobody is there to ask")
        return Decision(Effect.CONFIRM, rule, what)
    return Decision(Effect.ALLOW, rule, what)


def _describe(intent: ResolvedIntent) -> tuple[str, bool]:
    """What a write does in words, and whether the guarded mode asks about it."""
    if intent.level is Level.DESTRUCTIVE:
        return "it may destroy or overwrite something", True
    if intent.open_world.value and not intent.idempotent.value:
        return "it reaches the outside world and must not happen twice", True
    return "it writes, and nothing is lost by it", False
