"""What may run, what asks a person, and what may not: the modes, where no rule says otherwise."""

from dataclasses import dataclass
from enum import StrEnum

from avow.intent import Intent, Level, ResolvedIntent
from avow.policy.principal import Principal


class Effect(StrEnum):
    """What becomes of a call."""

    ALLOW = "allow"
    CONFIRM = "confirm"
    DENY = "deny"


class Mode(StrEnum):
    """What decides where no rule matches."""

    OBSERVE = "observe"
    PLAN = "plan"
    GUARDED = "guarded"
    STRICT = "strict"
    UNATTENDED = "unattended"


@dataclass(frozen=True, slots=True)
class Decision:
    """What becomes of one call, by which rule, and why in words a person reads."""

    effect: Effect
    rule: str
    reason: str


def is_visible(principal: Principal, intent: Intent) -> bool:
    """Whether `principal` may know that a tool with this intent exists.

    It needs every scope of the tool and, where the tool names roles, one of them.
    """
    if principal.scopes is None:
        return True
    has_role = not intent.roles or not intent.roles.isdisjoint(principal.roles)
    return has_role and intent.scopes <= principal.scopes


def decide(mode: Mode, intent: ResolvedIntent) -> Decision:
    """The decision of `mode` on a call with `intent`.

    >>> from avow.intent import Evidence, resolve
    >>> decide(Mode.GUARDED, resolve(Evidence())).effect
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
