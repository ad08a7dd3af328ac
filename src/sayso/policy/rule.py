"""A rule of a policy, and limits."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from sayso.fields import choice, convert, instance, many, number, optional, table, text, whole
from sayso.intent import Level, Span
from sayso.policy.conditions import Condition
from sayso.policy.decision import Effect, Require, Reviewers, read_reviewers
from sayso.policy.situation import Situation

LIMIT_WINDOW_SECONDS: Final = 60.0


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits: `calls` per minute, `by_level` per minute and level, and `targets` per call."""

    calls: int | None = None
    by_level: Mapping[Level, int] = field(default_factory=dict[Level, int])
    targets: int | None = None

    def __post_init__(self) -> None:
        by_level = table(choice(Level), whole(1), "levels to whole numbers")
        convert(self, calls=optional(whole(1)), by_level=by_level, targets=optional(whole(1)))


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule, with its first line.

    A rule matches if all of `when` are true. If it has `unless`, one of those must be false too.
    """

    name: str
    effect: Effect
    reason: str
    line: int
    when: tuple[Condition, ...] = ()
    unless: tuple[Condition, ...] = ()
    require: Require | None = None
    reviewers: Reviewers | None = None
    expires: float | None = None
    grant: Span | None = None
    limits: Limits | None = None
    matches: Callable[[Situation], bool] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        conditions = many(instance(Condition), "conditions")
        convert(
            self,
            name=text,
            effect=choice(Effect),
            reason=text,
            line=whole(0),
            when=conditions,
            unless=conditions,
            require=optional(choice(Require)),
            reviewers=optional(read_reviewers),
            expires=optional(number(1)),
            grant=optional(choice(Span)),
            limits=optional(instance(Limits)),
        )
        object.__setattr__(self, "matches", _matcher(self))

    @property
    def is_loosening(self) -> bool:
        """True if the rule permits more. An unknown condition then does not match."""
        return self.effect is Effect.ALLOW

    @property
    def is_hiding(self) -> bool:
        """True if the rule hides its tools. A rule with an unknown effect hides them too."""
        known = (Effect.ALLOW, Effect.CONFIRM, Effect.DENY)
        return all(self.effect is not effect for effect in known)

    @property
    def window(self) -> float:
        """The history that the rule's conditions and limits need, in seconds."""
        conditions = (*self.when, *self.unless)
        windows = [condition.window for condition in conditions]
        if self.limits is not None and self.limits.calls is not None:
            windows.append(LIMIT_WINDOW_SECONDS)
        return max(windows, default=0.0)


def _matcher(rule: Rule) -> Callable[[Situation], bool]:
    """Return the rule's test; an answer other than `True` or `False` is unknown."""
    when = tuple(condition.test for condition in rule.when)
    unless = tuple(condition.test for condition in rule.unless)
    if_unsure = not rule.is_loosening

    def matches(situation: Situation) -> bool:
        for test in when:
            answer = test(situation)
            if answer is not True and (answer is False or not if_unsure):
                return False
        if not unless:
            return True
        for test in unless:
            answer = test(situation)
            if answer is not True and (answer is False or if_unsure):
                return True
        return False

    return matches
