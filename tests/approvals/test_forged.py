"""A role that writes the database but has no keys: nothing that it writes lets a call run."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from tests.approvals.questions import Clock, question
from tests.store.writing import write

from sayso.approvals import Answer, Approval, Approvals, ApprovalState, Question
from sayso.approvals.ledger import CONVERSATION_SECONDS
from sayso.errors import StoreError
from sayso.intent import Span
from sayso.keys import Keyring
from sayso.store import Database

KEYS = Keyring.of([b"k" * 32])
YES = Answer(is_allowed=True, by="amy", channel="console")
NO = replace(YES, is_allowed=False)
COPIED = "binding, body, state, created, expires, answered_at, answered_by, channel, needed, edit"


@pytest.fixture
def approvals(store: Database, clock: Clock) -> Approvals:
    return Approvals.of(store, clock=clock, keys=KEYS)


async def may_run(approvals: Approvals, asked: Question) -> bool:
    """Whether a call could run now, in this process or in another one with the same keys."""
    other = replace(approvals)
    for ledger in (approvals, other):
        approval = await ledger.ask(asked)
        if approval.state is ApprovalState.APPROVED and await ledger.use(approval, call="c"):
            return True
        if await ledger.granted(asked) is not None:
            return True
    return False


async def asked_and_answered(
    approvals: Approvals, answer: Answer, asked: Question | None = None
) -> Approval:
    approval = await approvals.ask(asked or question())
    assert await approvals.answer(approval.number, answer)
    return await approvals.find(approval.number) or approval


SAID: Mapping[str, str] = {
    "the state alone": "UPDATE approvals SET state = 'approved', expires = 9e9",
    "the answer turned round": "UPDATE answers SET is_allowed = 1",
    "both": (
        "UPDATE approvals SET state = 'approved', expires = 9e9; "
        "UPDATE answers SET is_allowed = 1, expires = 9e9"
    ),
    "another answer": (
        "UPDATE approvals SET state = 'approved', answered_by = 'eve'; "
        "INSERT INTO answers (number, person, is_allowed, channel, strength, at, expires, mac) "
        "SELECT number, 'eve', 1, channel, strength, at, expires, mac FROM answers"
    ),
    "unsigned": (
        "UPDATE approvals SET state = 'approved', mac = ''; "
        "UPDATE answers SET is_allowed = 1, mac = ''"
    ),
}


@pytest.mark.parametrize("sql", SAID.values(), ids=SAID)
async def test_a_denial_cannot_be_turned_into_an_approval(approvals: Approvals, sql: str) -> None:
    asked = await asked_and_answered(approvals, NO)
    await write(approvals.questions, *sql.split("; "))
    assert not await may_run(approvals, asked.question)


async def test_an_approved_answer_cannot_be_inserted(approvals: Approvals, clock: Clock) -> None:
    pending = await approvals.ask(question())
    await write(
        approvals.questions,
        "UPDATE approvals SET state = 'approved', answered_by = 'amy', channel = 'console', "
        "answered_at = :now, expires = :now + 300",
        "INSERT INTO answers (number, person, is_allowed, channel, strength, at, expires) "
        "VALUES (:number, 'amy', 1, 'console', 'out_of_band', :now, :now + 300)",
        now=clock.now,
        number=pending.number,
    )
    found = await approvals.find(pending.number)
    assert found is not None
    assert found.state is ApprovalState.EXPIRED
    assert not await may_run(approvals, pending.question)


async def test_a_whole_question_cannot_be_inserted_as_approved(
    approvals: Approvals, clock: Clock
) -> None:
    await write(
        approvals.questions,
        "INSERT INTO approvals (binding, body, state, created, expires, answered_at, answered_by, "
        "channel) VALUES (:binding, '{}', 'approved', :now, 9e9, :now, 'amy', 'console')",
        now=clock.now,
        binding=question().binding,
    )
    assert not await may_run(approvals, question())


async def test_an_approval_cannot_be_copied_to_another_question(approvals: Approvals) -> None:
    given = await asked_and_answered(approvals, YES)
    other = await approvals.ask(question(customer_id=8))
    await write(
        approvals.questions,
        "INSERT INTO answers (number, person, is_allowed, channel, strength, at, message, edit, "
        "expires, mac) SELECT :other, person, is_allowed, channel, strength, at, message, "
        "edit, expires, mac FROM answers WHERE number = :given",
        "UPDATE approvals SET state = 'approved', answered_by = 'amy', channel = 'console', "
        "answered_at = (SELECT answered_at FROM approvals WHERE number = :given), "
        "expires = (SELECT expires FROM approvals WHERE number = :given) WHERE number = :other",
        given=given.number,
        other=other.number,
    )
    assert not await may_run(approvals, other.question)


async def test_an_approval_cannot_be_bound_to_another_call(approvals: Approvals) -> None:
    given = await asked_and_answered(approvals, YES)
    other = question(customer_id=8)
    await write(
        approvals.questions,
        "UPDATE approvals SET binding = :binding WHERE number = :number",
        binding=other.binding,
        number=given.number,
    )
    assert not await may_run(approvals, other)


async def test_an_approval_cannot_be_lengthened(approvals: Approvals, clock: Clock) -> None:
    given = await asked_and_answered(approvals, YES)
    await write(
        approvals.questions,
        "UPDATE approvals SET expires = expires + 9e6",
        "UPDATE answers SET expires = expires + 9e6",
    )
    clock.now += 301
    assert not await may_run(approvals, given.question)


async def test_a_question_cannot_be_kept_open_longer_than_it_was_asked_for(
    approvals: Approvals, clock: Clock
) -> None:
    asked = await approvals.ask(question())
    await write(approvals.questions, "UPDATE approvals SET expires = expires + 9e6")
    clock.now += 901
    assert await approvals.pending(10) == []
    assert not await approvals.answer(asked.number, YES)
    assert not await may_run(approvals, asked.question)


@pytest.mark.parametrize("has_restarted", [False, True])
async def test_a_used_approval_cannot_be_used_again(
    approvals: Approvals, *, has_restarted: bool
) -> None:
    given = await asked_and_answered(approvals, YES)
    assert await approvals.use(given, call="first")
    await write(approvals.questions, "UPDATE approvals SET state = 'approved', used_by = NULL")
    ledger = approvals
    if has_restarted:
        ledger = replace(approvals)
    assert not await ledger.use(given, call="second")
    assert not await may_run(ledger, given.question)


async def test_a_denied_question_cannot_be_opened_and_answered_again(approvals: Approvals) -> None:
    denied = await asked_and_answered(approvals, NO)
    await write(
        approvals.questions,
        "UPDATE approvals SET state = 'pending', answered_by = NULL, channel = NULL, "
        "expires = created + 900 WHERE number = :number",
        "DELETE FROM answers",
        number=denied.number,
    )
    other = replace(approvals)
    assert not await other.answer(denied.number, YES)
    assert not await may_run(approvals, denied.question)


async def test_a_withdrawn_question_cannot_be_revived(approvals: Approvals) -> None:
    given = await asked_and_answered(approvals, YES)
    assert await approvals.withdraw(given.number)
    await write(
        approvals.questions,
        "UPDATE approvals SET state = 'approved', expires = :expires",
        expires=given.expires,
    )
    assert not await may_run(approvals, given.question)


async def test_what_a_person_is_asked_cannot_be_reworded(approvals: Approvals) -> None:
    asked = await approvals.ask(question())
    await write(
        approvals.questions,
        'UPDATE approvals SET body = replace(body, \'"tool": "\', \'"tool": "list_\')',
    )
    assert await approvals.pending(10) == []
    found = await approvals.find(asked.number)
    assert found is not None
    assert found.state is ApprovalState.EXPIRED
    again = await approvals.ask(question())
    assert again.number != asked.number
    assert again.question == asked.question


async def test_no_reviewer_can_be_done_without(approvals: Approvals) -> None:
    asked = replace(question(), reviewers={"count": 2})
    pending = await approvals.ask(asked)
    await write(approvals.questions, "UPDATE approvals SET needed = 1")
    await approvals.answer(pending.number, YES)
    assert not await may_run(approvals, asked)


async def test_a_second_reviewer_cannot_be_made_up(approvals: Approvals) -> None:
    asked = replace(question(), reviewers={"count": 2})
    pending = await approvals.ask(asked)
    assert await approvals.answer(pending.number, YES)
    await write(
        approvals.questions,
        "INSERT INTO answers (number, person, is_allowed, channel, strength, at, edit, expires, "
        "mac) SELECT number, 'bob', 1, channel, strength, at, edit, expires, mac FROM answers",
        "UPDATE approvals SET state = 'approved', answered_by = 'amy', channel = 'console', "
        "answered_at = (SELECT max(at) FROM answers), "
        "expires = (SELECT max(expires) FROM answers)",
    )
    assert not await may_run(approvals, asked)


async def test_an_edit_cannot_be_changed_or_taken_away(approvals: Approvals) -> None:
    given = await asked_and_answered(approvals, replace(YES, edit={"customer_id": 1}))
    for edit in (None, '{"customer_id": 2}'):
        await write(approvals.questions, "UPDATE approvals SET edit = :edit", edit=edit)
        found = await approvals.find(given.number)
        assert found is not None
        assert found.state is ApprovalState.EXPIRED


GRANTED: Mapping[str, str] = {
    "inserted": (
        "INSERT INTO grants (binding, subject, client, span, body, approval, given_by, channel, "
        "created) SELECT :other, subject, client, span, body, approval, given_by, channel, "
        "created FROM grants"
    ),
    "copied": (
        "INSERT INTO grants (binding, subject, client, span, body, approval, given_by, channel, "
        "created, mac) SELECT :other, subject, client, span, body, approval, given_by, channel, "
        "created, mac FROM grants"
    ),
    "bound to another call": "UPDATE grants SET binding = :other",
}


@pytest.mark.parametrize("sql", GRANTED.values(), ids=GRANTED)
async def test_a_grant_cannot_be_written(approvals: Approvals, sql: str) -> None:
    grantable = replace(question(), longest=Span.ALWAYS, tool_binding="a", call_binding="b")
    other = replace(question(customer_id=8), longest=Span.ALWAYS, tool_binding="c")
    await asked_and_answered(approvals, replace(YES, span=Span.ALWAYS), grantable)
    assert await approvals.granted(grantable) is not None
    await write(approvals.questions, sql, other=other.tool_binding)
    assert await approvals.granted(other) is None
    assert not await may_run(approvals, other)


@pytest.mark.parametrize("is_copied", [False, True])
async def test_a_grant_that_was_taken_back_cannot_be_given_again(
    approvals: Approvals, *, is_copied: bool
) -> None:
    asked = replace(question(), longest=Span.ALWAYS, tool_binding="a")
    await asked_and_answered(approvals, replace(YES, span=Span.ALWAYS), asked)
    (grant,) = await approvals.list_grants()
    assert await approvals.revoke(grant.number, by="amy")
    await write(approvals.questions, "UPDATE grants SET revoked_at = NULL, revoked_by = NULL")
    if is_copied:
        await write(approvals.questions, "UPDATE grants SET number = number + 1")
    assert await approvals.granted(asked) is None


async def test_a_grant_for_a_conversation_cannot_be_made_to_last(
    approvals: Approvals, clock: Clock
) -> None:
    asked = replace(question(), longest=Span.SESSION, tool_binding="a")
    await asked_and_answered(approvals, replace(YES, span=Span.SESSION), asked)
    assert await approvals.granted(asked) is not None
    await write(approvals.questions, "UPDATE conversations SET last = 9e9")
    clock.now += CONVERSATION_SECONDS + 1
    assert await approvals.granted(asked) is None
    assert [one.holds for one in await approvals.list_grants()] == [False]
    await write(approvals.questions, "UPDATE grants SET span = 'always', conversation = NULL")
    assert await approvals.granted(asked) is None


async def test_what_other_keys_signed_does_not_count(approvals: Approvals) -> None:
    given = await asked_and_answered(approvals, YES)
    stranger = replace(approvals, keys=Keyring.of([b"x" * 32]))
    found = await stranger.find(given.number)
    assert found is not None
    assert found.state is ApprovalState.EXPIRED


async def test_a_database_that_changes_what_is_written_asks_nobody(
    approvals: Approvals, place: Any
) -> None:
    # A trigger that makes every question an approved one.
    if place.kind == "sqlite":
        await write(
            approvals.questions,
            "CREATE TRIGGER eve AFTER INSERT ON approvals BEGIN UPDATE approvals "
            "SET state = 'approved', expires = 9e9 WHERE number = new.number; END",
        )
    else:
        await write(
            approvals.questions,
            "CREATE FUNCTION eve() RETURNS trigger LANGUAGE plpgsql AS "
            "$$BEGIN new.state = 'approved'; new.expires = 9e9; RETURN new; END$$",
            "CREATE TRIGGER eve BEFORE INSERT ON approvals FOR EACH ROW EXECUTE FUNCTION eve()",
        )
    if place.kind == "sqlite":
        assert not await may_run(approvals, question())
    else:
        with pytest.raises(StoreError, match="does not store questions"):
            await may_run(approvals, question())


async def test_rows_that_cannot_be_read_break_no_list(approvals: Approvals, clock: Clock) -> None:
    asked = await asked_and_answered(
        approvals, replace(YES, span=Span.ALWAYS), replace(question(), longest=Span.ALWAYS)
    )
    for body in ("x", "[]", "{}", "null"):
        await write(
            approvals.questions,
            "INSERT INTO approvals (binding, body, state, created, expires) "
            "VALUES (:body, :body, 'pending', :now, :now + 900)",
            "INSERT INTO grants (binding, subject, client, span, body, approval, given_by, "
            "channel, created) VALUES ('b', 's', 'c', 'always', :body, 1, 'g', 'c', :now)",
            body=body,
            now=clock.now,
        )
    assert [one.number for one in await approvals.newest()] == [asked.number]
    assert await approvals.pending(10) == []
    assert len(await approvals.list_grants()) == 1
    assert await approvals.find(asked.number + 1) is None
