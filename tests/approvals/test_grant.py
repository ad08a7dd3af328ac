"""Grants: answers that stand for longer than one call, and what ends them."""

from dataclasses import replace
from typing import Any

import pytest
from tests.approvals.questions import Clock, of, only, question, yes
from tests.sample_tools import AMY, DELETE, WRITE, tool

from sayso.approvals import Approvals, Grant, Question
from sayso.errors import UsageError
from sayso.intent import Resolved, Source, Span
from sayso.policy import Principal, Require
from sayso.schema import MASK

pytestmark = pytest.mark.anyio

WRITES = tool("customer_update", WRITE)
UPDATE = of(WRITES, {"id": 7})
OUTWARD = Resolved(value=True, source=Source.OPERATOR)


async def granted(
    approvals: Approvals, asked: Question, span: Span = Span.ALWAYS, **more: Any
) -> Grant:
    """What a person gave with the answer to a question."""
    row = await approvals.ask(asked)
    assert await approvals.answer(row.number, yes(span=span, **more))
    return (await approvals.list_grants())[0]


async def test_an_answer_for_always_serves_every_call_of_the_tool(approvals: Approvals) -> None:
    given = await granted(approvals, UPDATE)
    assert (given.span, given.tool, given.level, given.title) == (
        Span.ALWAYS,
        "customer_update",
        "write",
        "Update customer",
    )
    assert (given.arguments, given.approval, given.given_by) == (None, 1, "console")
    found = await approvals.granted(of(WRITES, {"id": 8}))
    assert found is not None
    assert found.number == given.number
    again = (await approvals.list_grants())[0]
    assert (again.uses, again.last_used) == (1, approvals.clock())
    assert (again.to_dict()["span"], again.to_dict()["tool"]) == ("always", "customer_update")


async def test_an_answer_for_these_arguments_serves_no_others(approvals: Approvals) -> None:
    asked = of(WRITES, {"id": 7, "password": "hunter2"})
    given = await granted(approvals, asked, is_for_arguments=True)
    assert given.arguments == {"id": 7, "password": MASK}
    assert await approvals.granted(asked) is not None
    assert await approvals.granted(of(WRITES, {"id": 7, "password": "hunter3"})) is None
    assert await approvals.granted(UPDATE) is None


@pytest.mark.parametrize(
    "other",
    [
        of(WRITES, {"id": 7}, Principal("bo", "chat")),
        of(WRITES, {"id": 7}, Principal(AMY.subject, "another client")),
        of(tool("customer_update", WRITE, description="It writes more now."), {"id": 7}),
        of(tool("customer_upd\u0430te", WRITE), {"id": 7}),
        of(replace(WRITES, server="staging"), {"id": 7}),
        of(replace(WRITES, origin="elsewhere"), {"id": 7}),
        of(
            replace(WRITES, resolved=replace(WRITES.resolved, open_world=OUTWARD)),
            {"id": 7},
        ),
    ],
    ids=["subject", "client", "fingerprint", "look-alike", "server", "origin", "hints"],
)
async def test_a_grant_is_for_nobody_and_nothing_else(
    approvals: Approvals, other: Question
) -> None:
    await granted(approvals, UPDATE)
    assert await approvals.granted(other) is None
    assert await approvals.granted(UPDATE) is not None


@pytest.mark.parametrize(
    "stricter",
    [
        of(WRITES, {"id": 7}, reviewers=only("bo")),
        of(WRITES, {"id": 7}, reviewers=only(count=2)),
        of(WRITES, {"id": 7}, require=Require.OUT_OF_BAND),
        of(WRITES, {"id": 7}, grant=Span.ONCE),
        of(WRITES, {"id": 7}, grant=Span.SESSION),
    ],
    ids=["reviewers", "count", "require", "once", "session"],
)
async def test_a_grant_does_not_serve_where_the_policy_asks_for_more_now(
    approvals: Approvals, stricter: Question
) -> None:
    await granted(approvals, UPDATE)
    assert await approvals.granted(stricter) is None


async def test_a_grant_for_a_conversation_ends_with_it(approvals: Approvals, clock: Clock) -> None:
    await granted(approvals, UPDATE, Span.SESSION)
    clock.now += 1799
    assert await approvals.granted(UPDATE) is not None
    await approvals.ask(question())  # the conversation goes on
    clock.now += 1799
    assert await approvals.granted(UPDATE) is not None
    clock.now += 1
    assert await approvals.granted(UPDATE) is None
    await approvals.ask(question())  # another conversation
    assert await approvals.granted(UPDATE) is None


async def test_a_grant_for_a_conversation_that_is_over_when_it_is_given_never_holds(
    approvals: Approvals, clock: Clock
) -> None:
    row = await approvals.ask(of(WRITES, {"id": 7}, expires=86_400.0))
    clock.now += 7200
    await approvals.ask(question())
    clock.now += 7200
    assert await approvals.answer(row.number, yes(span=Span.SESSION))
    assert await approvals.granted(UPDATE) is None
    await approvals.ask(question())
    assert await approvals.granted(UPDATE) is None


async def test_a_grant_for_always_outlives_the_conversation(
    approvals: Approvals, clock: Clock
) -> None:
    await granted(approvals, UPDATE)
    clock.now += 30 * 86_400
    assert await approvals.granted(UPDATE) is not None


async def test_what_is_taken_back_serves_no_more(approvals: Approvals, clock: Clock) -> None:
    given = await granted(approvals, UPDATE)
    clock.now += 5
    assert await approvals.revoke(given.number, by="bo")
    assert not await approvals.revoke(given.number, by="al")
    assert not await approvals.revoke(99, by="al")
    assert await approvals.granted(UPDATE) is None
    found = (await approvals.list_grants())[0]
    assert (found.revoked_by, found.revoked_at) == ("bo", clock.now)


async def test_a_grant_that_is_taken_back_between_finding_and_using_it_serves_nobody(
    approvals: Approvals, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = await granted(approvals, UPDATE)
    found = await approvals.grants.find(UPDATE.call_binding, UPDATE.tool_binding, alive=0)
    await approvals.revoke(given.number, by="bo")

    async def stale(*_: object, **__: object) -> object:
        return found

    monkeypatch.setattr(approvals.grants, "find", stale)
    assert await approvals.granted(UPDATE) is None


@pytest.mark.parametrize(
    ("asked", "longest"),
    [
        (of(WRITES), Span.ALWAYS),
        (of(tool(annotations=DELETE)), Span.SESSION),
        (of(tool(annotations=DELETE), grant=Span.ALWAYS), Span.ALWAYS),
        (of(WRITES, grant=Span.ONCE), Span.ONCE),
        (of(tool("t", WRITE, _meta={"io.sayso/intent": {"grant": "once"}})), Span.ONCE),
        (
            of(tool("t", DELETE, _meta={"io.sayso/intent": {"grant": "always"}})),
            Span.SESSION,
        ),
        (of(WRITES, reviewers=only(count=2)), Span.ONCE),
    ],
    ids=["write", "destructive", "rule", "rule once", "author", "author cannot permit", "several"],
)
async def test_how_long_an_answer_may_hold(
    approvals: Approvals, asked: Question, longest: Span
) -> None:
    assert asked.longest == longest
    row = await approvals.ask(asked)
    for span in Span:
        if span.rank > longest.rank:
            with pytest.raises(UsageError, match=f"to this question is “{longest}”"):
                await approvals.answer(row.number, yes(span=span))
