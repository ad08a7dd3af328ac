"""Questions to ask in tests, and a clock to ask them by."""

from dataclasses import dataclass, replace
from typing import Any

from tests.sample_tools import AMY, DELETE, tool

from sayso.approvals import Answer, Plan, Question, make_question
from sayso.catalog import Tool
from sayso.policy import Decision, Effect, Principal, Reviewers
from sayso.schema import digest

DECISION = Decision(Effect.CONFIRM, "mode:guarded", "it may destroy something")


@dataclass
class Clock:
    """A clock that stands still until it is set."""

    now: float = 1_000_000.0

    def __call__(self) -> float:
        return self.now


def question(principal: Principal = AMY, **arguments: Any) -> Question:
    """May this caller delete a customer?"""
    return of(tool(annotations=DELETE), arguments or {"customer_id": 7}, principal)


def of(
    made: Tool,
    arguments: dict[str, Any] | None = None,
    principal: Principal = AMY,
    *,
    plan: Plan | None = None,
    **decision: Any,
) -> Question:
    """A question about a call of this tool, where the decision asks for more."""
    given = arguments or {}
    return make_question(
        principal, made, given, replace(DECISION, **decision), digest(given), plan=plan
    )


def only(*subjects: str, roles: tuple[str, ...] = (), count: int = 1) -> Reviewers:
    """Who may answer."""
    return Reviewers(count, frozenset(subjects), frozenset(roles))


def yes(by: str = "console", **more: Any) -> Answer:
    """An approval."""
    given: dict[str, Any] = {"channel": "console", **more}
    return Answer(is_allowed=True, by=by, **given)


def no(by: str = "console", **more: Any) -> Answer:
    """A denial."""
    given: dict[str, Any] = {"channel": "console", **more}
    return Answer(is_allowed=False, by=by, **given)
