"""A decision: what becomes of a call, by which rule, and why; and the modes' own decisions."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

from sayso.fields import UnfitError, convert, texts, whole
from sayso.intent import Level, ResolvedIntent, Span


class Effect(StrEnum):
    """What becomes of a call; `hide` is only a rule's: a decision on a hidden tool is `deny`."""

    ALLOW = "allow"
    CONFIRM = "confirm"
    DENY = "deny"
    HIDE = "hide"


class Mode(StrEnum):
    """What decides where no rule matches."""

    OBSERVE = "observe"
    PLAN = "plan"
    GUARDED = "guarded"
    STRICT = "strict"
    UNATTENDED = "unattended"


class Listing(StrEnum):
    """Which tools the gateway lists: all, or those that find and call the others."""

    ALL = "all"
    SEARCH = "search"


class Require(StrEnum):
    """How strong the channel of an answer must be; `any` takes one that the client relays too."""

    OUT_OF_BAND = "out_of_band"
    ANY = "any"


@dataclass(frozen=True, slots=True)
class Reviewers:
    """Who may answer, and how many of them must; with no names, anyone who may answer at all."""

    count: int = 1
    subjects: frozenset[str] = frozenset()
    roles: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        convert(self, count=whole(1), subjects=texts, roles=texts)

    def to_dict(self) -> dict[str, Any]:
        """As data, names sorted."""
        return {"count": self.count, "subjects": sorted(self.subjects), "roles": sorted(self.roles)}


def read_reviewers(value: Any) -> Reviewers:
    """Read reviewers, or only how many. Raises `UnfitError` and `UsageError`."""
    if isinstance(value, Reviewers):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return Reviewers(value)
    raise UnfitError("must be Reviewers or a whole number")


@dataclass(frozen=True, slots=True)
class Decision:
    """What becomes of one call, by which rule, and why in words a person reads.

    `line` is that rule's line in the policy. `require`, `reviewers`, `expires` (seconds) and
    `grant`, the longest that an answer may hold, bind the question when the effect is `confirm`.
    `would_be` is what would have become of the call: set when the mode is `observe`, and when
    somebody else asks. `retry_after` (seconds) is set when a limit on calls was reached.
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
        """What the policy says, whether or not it is enforced."""
        return self.would_be or self.effect

    def to_dict(self) -> dict[str, Any]:
        """As data, without what is unset."""
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
    if intent.level is not Level.WRITE:
        return "it may destroy or overwrite something", True
    if intent.open_world.value is not False and intent.idempotent.value is not True:
        return "it reaches the outside world and must not happen twice", True
    return "it writes, and nothing is lost by it", False
