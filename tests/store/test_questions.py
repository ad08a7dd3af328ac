"""Questions that several must agree to, and edits. On both databases."""

from dataclasses import replace
from typing import Any

import anyio
import pytest
from tests.databases import Place
from tests.store.test_claims import Open
from tests.store.writing import pass_over

from sayso.errors import DeniedError, StoreError
from sayso.store import AnswerRow, ApprovalState, Database, RecordRow, open_store

pytestmark = pytest.mark.anyio

NOW = 1_000_000.0


async def ask(store: Database, needed: int = 1) -> int:
    row = await store.questions.open("b", "{}", now=NOW, expires=NOW + 60, needed=needed)
    return row.number


async def say(store: Database, number: int, by: str = "bo", **more: Any) -> bool:
    options = {name: more.pop(name) for name in ("seen", "token") if name in more}
    fields: dict[str, Any] = {"is_allowed": True, "channel": "console", "at": NOW, **more}
    fields.setdefault("expires", NOW + 60)
    row = AnswerRow(number, by, strength="out_of_band", **fields)
    return await store.questions.answer(row, **options)


async def state(store: Database, number: int) -> tuple[str, str | None]:
    row = await store.questions.find(number, now=NOW)
    assert row is not None
    return row.state, row.edit


async def test_as_many_as_are_needed_must_agree(store: Database) -> None:
    number = await ask(store, 3)
    for by in ("al", "bo"):
        assert await say(store, number, by)
        assert not await say(store, number, by)
        assert await state(store, number) == (ApprovalState.PENDING, None)
    assert await say(store, number, "cy")
    assert await state(store, number) == (ApprovalState.APPROVED, None)
    assert [one.person for one in await store.questions.answers(number)] == ["al", "bo", "cy"]


async def test_one_denial_ends_it(store: Database) -> None:
    number = await ask(store, 3)
    await say(store, number, "al")
    assert await say(store, number, "bo", is_allowed=False, message="no\nnever")
    assert not await say(store, number, "cy")
    assert await state(store, number) == (ApprovalState.DENIED, None)
    told = [
        (one.person, one.is_allowed, one.message) for one in await store.questions.answers(number)
    ]
    assert told == [("al", True, None), ("bo", False, "no\nnever")]


async def test_of_64_people_at_once_exactly_as_many_count_as_are_needed(place: Place) -> None:
    stores = [open_store(place.url) for _ in range(4)]
    number = await ask(stores[0], 5)
    counted: list[bool] = []

    async def one(index: int) -> None:
        counted.append(await say(stores[index % 4], number, f"person {index}"))

    async with anyio.create_task_group() as group:
        for index in range(64):
            group.start_soon(one, index)
    assert (len(counted), sum(counted)) == (64, 5)
    assert (await state(stores[0], number))[0] == ApprovalState.APPROVED
    for opened in stores:
        await opened.close()


async def test_whoever_has_not_seen_an_edit_agrees_to_nothing(store: Database) -> None:
    number = await ask(store, 2)
    assert await say(store, number, "al", edit='{"n": 2}')
    assert not await say(store, number, "bo")
    assert not await say(store, number, "bo", seen='{"n": 3}', edit='{"n": 3}')
    assert await state(store, number) == (ApprovalState.PENDING, '{"n": 2}')
    assert await say(store, number, "bo", seen='{"n": 2}', edit='{"n": 2}')
    assert await state(store, number) == (ApprovalState.APPROVED, '{"n": 2}')


async def test_an_edit_takes_back_what_was_said_before_it(store: Database) -> None:
    number = await ask(store, 2)
    await say(store, number, "al")
    assert await say(store, number, "bo", edit='{"n": 2}')
    assert [one.person for one in await store.questions.answers(number)] == ["bo"]
    assert await say(store, number, "al", seen='{"n": 2}', edit='{"n": 2}')


async def test_of_two_edits_at_once_one_counts(place: Place) -> None:
    stores = [open_store(place.url) for _ in range(2)]
    number = await ask(stores[0])
    counted: list[bool] = []

    async def one(index: int) -> None:
        edit = f'{{"n": {index}}}'
        counted.append(await say(stores[index], number, f"person {index}", edit=edit))

    async with anyio.create_task_group() as group:
        for index in range(2):
            group.start_soon(one, index)
    assert sorted(counted) == [False, True]
    for opened in stores:
        await opened.close()


async def test_texts_that_no_database_can_hold_are_kept_all_the_same(store: Database) -> None:
    number = await ask(store)
    assert await say(store, number, "b\0o\ud800", message="a\0b", channel="x\0")
    (said,) = await store.questions.answers(number)
    assert (said.person, said.message) == ("b\ufffdo?", "a\ufffdb")


async def test_a_denial_counts_whatever_was_edited_or_said_before(store: Database) -> None:
    row = await store.questions.open("d", "{}", now=NOW, expires=NOW + 60, needed=2)
    yes = AnswerRow(row.number, "ann", True, "x", "y", NOW, expires=9e9)  # noqa: FBT003
    assert await store.questions.answer(replace(yes, edit='{"n": 2}'))
    no = replace(yes, is_allowed=False)
    assert await store.questions.answer(no)
    found = await store.questions.find(row.number, now=NOW)
    assert found is not None
    assert (found.state, found.edit) == ("denied", '{"n": 2}')
    assert [one.is_allowed for one in await store.questions.answers(row.number)] == [False]


async def test_those_that_wait_come_oldest_first_and_those_that_are_over_newest_first(
    store: Database,
) -> None:
    for at, binding in enumerate("abcd"):
        await store.questions.open(binding, "{}", now=NOW, expires=NOW + 60 + at)
    await say(store, 2)
    await say(store, 3, is_allowed=False)

    assert [one.number for one in await store.questions.pending(now=NOW, limit=9)] == [1, 4]
    assert [one.number for one in await store.questions.pending(now=NOW, limit=1)] == [1]
    assert [one.number for one in await store.questions.settled(now=NOW, limit=9)] == [3, 2]
    assert [one.number for one in await store.questions.pending(now=NOW + 60, limit=9)] == [4]
    late = await store.questions.settled(now=NOW + 60, limit=9)
    assert [(one.number, one.state) for one in late] == [
        (3, ApprovalState.DENIED),
        (2, ApprovalState.EXPIRED),
        (1, ApprovalState.EXPIRED),
    ]


async def test_a_question_that_is_taken_back_waits_no_longer_and_takes_no_answer(
    store: Database,
) -> None:
    number = await ask(store)
    assert await store.questions.withdraw(number, now=NOW + 1)
    assert await store.questions.pending(now=NOW + 1, limit=9) == []
    assert await state(store, number) == ("expired", None)
    assert not await say(store, number, at=NOW + 2)
    # The same call made again asks anew.
    assert await ask(store) != number


async def test_what_is_over_cannot_be_taken_back(store: Database) -> None:
    number = await ask(store)
    assert await store.questions.withdraw(number, now=NOW)
    assert not await store.questions.withdraw(number, now=NOW)
    assert not await store.questions.withdraw(number + 1, now=NOW)
    no = await ask(store)
    await say(store, no, is_allowed=False)
    assert not await store.questions.withdraw(no, now=NOW)
    assert (await state(store, no))[0] == "denied"


async def test_an_approval_that_nobody_has_used_can_be_taken_back(store: Database) -> None:
    number = await ask(store)
    await say(store, number)
    assert await store.questions.withdraw(number, now=NOW)
    assert not await store.questions.use(number, binding="b", call="c", now=NOW + 1)


async def test_taking_back_and_answering_at_once_end_in_one_of_them(
    store: Database, place: Place
) -> None:
    other = open_store(place.url)
    number = await ask(store)
    done: dict[str, bool] = {}

    async def answer() -> None:
        done["answered"] = await say(store, number, is_allowed=False)

    async def withdraw() -> None:
        done["withdrawn"] = await other.questions.withdraw(number, now=NOW)

    async with anyio.create_task_group() as group:
        group.start_soon(answer)
        group.start_soon(withdraw)
    assert done["answered"] is not done["withdrawn"]
    await other.close()


def body(subject: str, client: str = "chat") -> str:
    return f'{{"subject": "{subject}", "client": "{client}"}}'


async def put(
    store: Database, binding: str, subject: str, client: str = "chat", most: int = 9
) -> int:
    row = await store.questions.open(
        binding, body(subject, client), now=NOW, expires=NOW + 60, most=most
    )
    return row.number


async def test_of_many_questions_of_one_caller_in_several_processes_so_many_are_put(
    place: Place,
) -> None:
    stores = [open_store(place.url) for _ in range(4)]
    refused: list[int] = []

    async def one(index: int) -> None:
        try:
            await put(stores[index % 4], f"b{index}", "mallory", f"client {index}", most=5)
        except DeniedError:
            refused.append(index)

    async with anyio.create_task_group() as group:
        for index in range(32):
            group.start_soon(one, index)
    assert len(refused) == 27
    assert await stores[0].questions.count_pending(now=NOW) == 5
    assert await put(stores[1], "amy's", "amy", most=5)
    for opened in stores:
        await opened.close()


async def test_a_caller_with_as_many_questions_as_may_wait_joins_them_and_asks_after_an_end(
    store: Database,
) -> None:
    first = await put(store, "b1", "amy", most=2)
    await put(store, "b2", "amy", most=2)
    assert await put(store, "b1", "amy", most=2) == first
    with pytest.raises(DeniedError, match="2 questions of this caller already wait"):
        await put(store, "b3", "amy", most=2)
    assert await say(store, first)
    assert await put(store, "b3", "amy", most=2)


async def test_questions_of_one_caller_come_after_the_first_of_another(store: Database) -> None:
    many = [await put(store, f"m{index}", "mallory") for index in range(4)]
    amy = [await put(store, f"a{index}", "amy") for index in range(2)]
    bo = await put(store, "bo", "bo")
    wanted = [many[0], amy[0], bo, many[1], amy[1], many[2], many[3]]
    assert [one.number for one in await store.questions.pending(now=NOW, limit=9)] == wanted
    walked, after = list[int](), 0
    while page := await store.questions.pending(now=NOW, limit=2, after=after):
        walked += [one.number for one in page]
        after = page[-1].number
    assert walked == wanted
    await say(store, many[0])
    rest = [one.number for one in await store.questions.pending(now=NOW, limit=9, after=many[0])]
    assert set(wanted) - {many[0]} >= set(rest) >= {amy[0], bo, amy[1]}


async def test_a_question_whose_signature_is_not_kept_is_not_asked(
    store: Database, place: Place
) -> None:
    await pass_over(store, place, "UPDATE OF mac ON approvals")
    with pytest.raises(StoreError, match="did not store the signature of a question"):
        await store.questions.open("b", "{}", now=NOW, expires=NOW + 60, sign=lambda _row: "mac")
    assert await store.questions.newest(now=NOW) == []


async def test_a_question_that_was_not_signed_here_is_voided_and_asked_anew(
    store: Database,
) -> None:
    forged = await ask(store)
    row = await store.questions.open(
        "b",
        "{}",
        now=NOW,
        expires=NOW + 60,
        sign=lambda asked: f"mac of {asked.number}",
        judge=lambda asked, _answers: asked.mac == f"mac of {asked.number}",
    )
    assert row.number != forged
    assert row.mac == f"mac of {row.number}"
    assert await state(store, forged) == ("expired", None)


async def test_a_question_that_cannot_be_asked_as_it_is_signed_is_given_up(store: Database) -> None:
    with pytest.raises(StoreError, match="does not store questions as they are written"):
        await store.questions.open(
            "b", "{}", now=NOW, expires=NOW + 60, judge=lambda _row, _answers: False
        )
    assert await store.questions.newest(now=NOW) == []


async def test_of_some_questions_those_that_wait_are_named(store: Database) -> None:
    for binding in "abc":
        await store.questions.open(binding, "{}", now=NOW, expires=NOW + 60)
    await say(store, 2)
    assert await store.questions.pending_among([1, 2, 3, 9], now=NOW) == {1, 3}
    assert await store.questions.pending_among([1], now=NOW + 60) == set()
    assert await store.questions.pending_among([], now=NOW) == set()


async def test_a_token_that_is_spent_answers_and_uses_nothing_more(store: Database) -> None:
    number = await ask(store)
    assert await say(store, number, is_allowed=False, token="one")
    assert await store.tokens.is_spent("one")
    again = await ask(store)
    assert again == number
    other = await store.questions.open("other", "{}", now=NOW, expires=NOW + 60)
    assert not await say(store, other.number, token="one")
    assert (await state(store, other.number))[0] == "pending"
    assert await store.questions.withdraw(other.number, now=NOW, token="two")
    assert await store.tokens.is_spent("two")


async def test_questions_that_were_over_before_a_moment_go_with_their_answers(
    store: Database,
) -> None:
    for at, binding in enumerate("abc"):
        row = await store.questions.open(binding, "{}", now=NOW, expires=NOW + 60 + at)
        assert await say(store, row.number, expires=NOW + 60 + at)
    note = RecordRow("", NOW, "pruned", "{}")
    assert await store.records.prune({}, before=NOW + 62, note=note, seal=Open()) == 0
    assert [one.number for one in await store.questions.newest(now=NOW)] == [3]
    assert [len(await store.questions.answers(number)) for number in (1, 2, 3)] == [0, 0, 1]


async def test_an_approval_is_used_together_with_its_token(store: Database) -> None:
    number = await ask(store)
    await say(store, number)
    used: dict[str, Any] = {
        "binding": "b",
        "call": "c",
        "now": NOW,
        "token": "one",
        "expires": NOW + 60,
    }
    assert await store.questions.use(number, **used)
    assert await store.tokens.is_spent("one")
    assert not await store.questions.use(number, **used)
