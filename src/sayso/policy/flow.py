"""Conditions on what was done before: the flow of a session."""

from collections.abc import Mapping
from typing import Any

from sayso.policy.conditions import Condition, facts_tests
from sayso.policy.format import DEFAULT_WITHIN
from sayso.policy.situation import Past, Situation
from sayso.settings import seconds


def window_of(after: Mapping[str, Any]) -> float:
    """How many seconds an `after` looks back."""
    return seconds(after.get("within", DEFAULT_WITHIN))


def flow_condition(after: Mapping[str, Any]) -> Condition:
    """That one earlier call within the window fits all of `after`."""
    window = window_of(after)
    is_of_conversation = after.get("of", "conversation") == "conversation"
    asked = facts_tests(after)
    tests = [one.test for one in asked]

    def fits(past: Past, now: float) -> bool | None:
        # A time ahead of `now` is a clock that was set back: it counts as just now.
        if now - past.at > window or not all(test(past.facts) for test in tests):
            return False
        return past.is_same_conversation if is_of_conversation else True

    def test(situation: Situation) -> bool | None:
        answer: bool | None = False
        for past in reversed(situation.history):
            found = fits(past, situation.now)
            if found is True:
                return True
            if found is None:
                answer = None
        return answer

    what = ", ".join(f"{one.key} {one.wanted}" for one in asked) or "any kind"
    whose = "conversation" if is_of_conversation else "principal"
    within = after.get("within", DEFAULT_WITHIN)
    wanted = f"an earlier call ({what}) of this {whose} within {within}"
    return Condition(
        "after",
        wanted,
        test,
        lambda _: "nothing of the kind",
        is_of_call=True,
        window=window,
        about=tuple(asked),
    )
