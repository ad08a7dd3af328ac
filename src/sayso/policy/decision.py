"""Decisions (a call's effect, with the rule and the reason), and the decisions of the modes."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

from sayso.fields import UnfitError, convert, texts, whole
from sayso.intent import Level, ResolvedIntent, Span


class Effect(StrEnum):
    """The result for a call. `hide` occurs in rules only; calls of hidden tools get `deny`."""

    ALLOW = "allow"
    CONFIRM = "confirm"
    DENY = "deny"
    HIDE = "hide"


class Mode(StrEnum):
    """The mode, which decides calls that no rule matches."""

    OBSERVE = "observe"
    PLAN = "plan"
    GUARDED = "guarded"
    STRICT = "strict"
    UNATTENDED = "unattended"


class Listing(StrEnum):
    """The tools that the gateway lists: all, or a few that find and call the others."""

    ALL = "all"
    SEARCH = "search"


class Require(StrEnum):
    """The required channel strength of an answer. `any` accepts answers that a client relays."""

    OUT_OF_BAND = "out_of_band"
    ANY = "any"


@dataclass(frozen=True, slots=True)
class Reviewers:
    """The number of people who must approve, and who may. Without names, every approver may."""

    count: int = 1
    subjects: frozenset[str] = frozenset()
    roles: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        convert(self, count=whole(1), subjects=texts, roles=texts)

    def to_dict(self) -> dict[str, Any]:
        return {"count": self.count, "subjects": sorted(self.subjects), "roles": sorted(self.roles)}


def read_reviewers(value: Any) -> Reviewers:
    """Convert `Reviewers` or a count to `Reviewers`. Raises `UnfitError` and `UsageError`."""
    if isinstance(value, Reviewers):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return Reviewers(value)
    raise UnfitError("must be Reviewers or a whole number")


@dataclass(frozen=True, slots=True)
class Decision:
    """The effect on one call, the rule that decided, and the reason for people.

    `line` is the rule's line in the policy. If the effect is `confirm`, the question has `require`,
    `reviewers`, `expires` (seconds) and `grant` (how long an answer may stay valid). `would_be` is
    set if the policy's effect is not enforced, because the mode is `observe` or another gateway
    asks. `retry_after` (seconds) is set if a rate limit was reached.
    """

    effect: Effect
    rule: str
    reason: str
    line: int | None = None
    require: Require | None = None
    reviewers: Reviewers | None = None
    expires: float | None = None
    grant: Span | None = None
    would_be: Effect | None = None
    retry_after: float | None = field(default=None, compare=False)

    @property
    def judged(self) -> Effect:
        """The policy's effect, whether or not it is enforced."""
        return self.would_be or self.effect

    def to_dict(self) -> dict[str, Any]:
        fields: dict[str, Any] = {
            "effect": str(self.effect),
            "rule": self.rule,
            "reason": self.reason,
            "line": self.line,
            "require": self.require and str(self.require),
            "reviewers": self.reviewers and self.reviewers.to_dict(),
            "expires": self.expires,
            "grant": self.grant and str(self.grant),
            "would_be": self.would_be and str(self.would_be),
            "retry_after": self.retry_after,
        }
        return {key: value for key, value in fields.items() if value is not None}


_ASKS_ABOUT_RISKS: Final = (Mode.GUARDED, Mode.UNATTENDED)
"""Modes in which a write runs without approval if it is neither destructive nor risky."""


def decide_by_mode(mode: Mode, intent: ResolvedIntent) -> Decision:
    """Return the decision of `mode` alone on a call with `intent`.

    `observe` allows everything. A value that is not a `Mode` denies everything, including reads.

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
    return Decision(Effect.DENY, rule, f"{what}, and no one is there to answer")


def _describe(intent: ResolvedIntent) -> tuple[str, bool]:
    if intent.level is not Level.WRITE:
        return "it may destroy or overwrite something", True
    if intent.open_world.value is not False and intent.idempotent.value is not True:
        return "it reaches the outside world and must not happen twice", True
    return "it writes, and loses nothing", False
