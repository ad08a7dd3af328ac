"""What is remembered of a decision is what the engine would say again."""

import pytest

from sayso.intent import Hints, resolve
from sayso.intent.resolution import Evidence
from sayso.policy import (
    Effect,
    Limits,
    Mode,
    Policy,
    Principal,
    Situation,
    Standing,
    ToolFacts,
    decide,
)
from sayso.policy.document import FirstUse

LOCAL = Principal("local")
KNOWN = Principal("amy", scopes=frozenset({"crm"}))
HINTS = [
    Hints(read_only=True),
    Hints(read_only=False, destructive=False),
    Hints(read_only=False, destructive=False, idempotent=True, open_world=True),
    Hints(read_only=False, destructive=True),
]


def facts(hints: Hints, server: str = "crm") -> ToolFacts:
    return ToolFacts(server, "get", resolve(Evidence(declared=hints)))


@pytest.mark.parametrize("mode", Mode)
@pytest.mark.parametrize("asks", [True, False])
def test_it_says_what_the_engine_says(mode: Mode, *, asks: bool) -> None:
    standing = Standing()
    policy = Policy(mode=mode, asks=asks, off_servers=frozenset({"old"}))
    tools = [facts(hints, server) for hints in HINTS for server in ("crm", "old")]
    for _ in range(2):
        for one in tools:
            for caller in (LOCAL, KNOWN):
                found = standing.of(policy, caller, one)
                assert found == decide(policy, Situation(caller, one))


def test_another_policy_is_another_decision() -> None:
    standing, tool = Standing(), facts(HINTS[3])
    asked = standing.of(Policy(), LOCAL, tool)
    let = standing.of(Policy(mode=Mode.OBSERVE), LOCAL, tool)
    assert asked is not None
    assert let is not None
    assert (asked.effect, let.effect) == (Effect.CONFIRM, Effect.ALLOW)


@pytest.mark.parametrize(
    "policy",
    [
        Policy(off_subjects=frozenset({"amy"})),
        Policy(limits=Limits(calls=3)),
        Policy(first_use=(FirstUse("*", "*"),)),
    ],
)
def test_nothing_stands_where_more_than_the_tool_counts(policy: Policy) -> None:
    standing = Standing()
    assert standing.of(policy, LOCAL, facts(HINTS[0])) is None
    assert standing.of(Policy(), LOCAL, facts(HINTS[0])) is not None
    assert standing.of(policy, LOCAL, facts(HINTS[0])) is None
