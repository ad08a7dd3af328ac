"""Records: what is refused, counted, finished, pruned, and copied to another database."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.databases import Place
from tests.store.writing import pass_over, write

from sayso.audit import Chain
from sayso.errors import DeniedError, StoreError, UsageError
from sayso.keys import Keyring
from sayso.store import ApprovalRow, Database, Lapse, RecordRow, Use, open_store
from sayso.store.database import move_store

pytestmark = pytest.mark.anyio

KEYS = Keyring.of([b"k" * 32])
NOW = 1_000_000.0
ROW = RecordRow("a", NOW, "attempt", "{}")
AMYS = RecordRow("b", NOW + 9, "attempt", "{}", subject="amy")


async def test_records_are_counted_by_subject_and_by_age(store: Database) -> None:
    await store.records.append([ROW, AMYS, AMYS])
    assert await store.records.tally() == [("amy", 2), (None, 1)]
    assert await store.records.tally(subject="amy") == [("amy", 2)]
    assert await store.records.tally(before=NOW + 1) == [(None, 1)]


async def test_a_call_whose_grant_is_gone_is_not_begun(store: Database) -> None:
    use = Use("amy", "chat", "t", "write", "{}", NOW, 60.0, grant=7)
    assert await store.records.begin([ROW], use) == Lapse(grant=7)
    assert await store.records.count() == 0


async def test_a_writer_finishes_its_calls_and_keeps_its_lease(store: Database) -> None:
    chain = Chain.begin(KEYS)
    await store.records.beat(chain.writer, "here", seconds=60)
    await store.records.append([ROW], seal=chain)

    def finish(attempts: Sequence[RecordRow]) -> list[RecordRow]:
        return [RecordRow(row.call, NOW, "outcome", "{}") for row in attempts]

    assert await store.records.finish(chain.writer, finish=finish, seal=chain) == 1
    assert await store.records.finish(chain.writer, finish=finish, seal=chain) == 0
    assert [row.writer for row in await store.records.writers()] == [chain.writer]


async def test_old_records_go_together_with_old_questions(store: Database) -> None:
    chain = Chain.begin(KEYS)
    await store.records.append([ROW])
    await store.records.append([ROW, ROW], seal=chain)
    old = await store.questions.open("b", "{}", now=NOW, expires=NOW + 1)
    new = await store.questions.open("c", "{}", now=NOW, expires=NOW + 99)
    note = RecordRow("", NOW, "checkpoint", "{}")
    upto = {"": 1, chain.writer: 1}
    assert await store.records.prune(upto, before=NOW + 9, note=note, seal=chain) == 2
    assert [row.event for row in await store.records.scan(0, 9)] == ["attempt", "checkpoint"]
    assert await store.questions.find(old.number, now=NOW) is None
    assert await store.questions.find(new.number, now=NOW) == new


async def test_the_first_record_of_a_chain_comes_from_its_seal(store: Database) -> None:
    chain = Chain.begin(KEYS)
    chain.start = lambda _: RecordRow("", NOW, "began", "{}")
    await store.records.append([], seal=chain)
    assert await store.records.count() == 0
    await store.records.append([ROW], seal=chain)
    assert [row.event for row in await store.records.scan(0, 9)] == ["began", "attempt"]


async def test_records_that_the_database_drops_are_an_error(store: Database, place: Place) -> None:
    await pass_over(store, place, "INSERT ON records")
    with pytest.raises(StoreError, match="does not store records"):
        await store.records.append([RecordRow("a", NOW, "refused", "{}")])


async def test_attempts_that_the_database_changes_are_an_error(
    store: Database, place: Place
) -> None:
    change = "UPDATE records SET body = '{\"x\": 1}'"
    if place.kind == "sqlite":
        await write(store, f"CREATE TRIGGER eve AFTER INSERT ON records BEGIN {change}; END")
    else:
        function = f"$$BEGIN {change}; RETURN NULL; END$$"
        await write(
            store,
            f"CREATE FUNCTION eve() RETURNS trigger LANGUAGE plpgsql AS {function}",
            "CREATE TRIGGER eve AFTER INSERT ON records FOR EACH ROW EXECUTE FUNCTION eve()",
        )
    with pytest.raises(StoreError, match="does not store records"):
        await store.records.append([ROW])
    assert await store.records.count() == 0


async def test_a_caller_with_too_many_questions_gets_no_new_one(store: Database) -> None:
    body = '{"subject": "amy"}'
    await store.questions.open("b", body, now=NOW, expires=NOW + 60, most=1)
    with pytest.raises(DeniedError, match="1 questions of this caller"):
        await store.questions.open("c", body, now=NOW, expires=NOW + 60, most=1)


async def test_a_question_is_on_record_when_it_is_there(store: Database) -> None:
    def asked(row: ApprovalRow) -> RecordRow:
        return RecordRow(f"call {row.number}", NOW, "asked", "{}")

    row = await store.questions.open("b", "{}", now=NOW, expires=NOW + 60, asked=asked)
    assert [one.call for one in await store.records.newest()] == [f"call {row.number}"]


async def test_a_question_is_withdrawn_once_and_others_are_notified(store: Database) -> None:
    row = await store.questions.open("b", "{}", now=NOW, expires=NOW + 60)
    assert await store.questions.withdraw(row.number, now=NOW, notify="sayso_x")
    assert not await store.questions.withdraw(row.number, now=NOW, notify="sayso_x")


async def test_no_grant_is_found_where_none_was_given(store: Database) -> None:
    assert await store.grants.find("n", "w", alive=0.0) is None


async def test_a_database_is_copied_with_its_numbers(store: Database, tmp_path: Path) -> None:
    await store.records.append([ROW, AMYS])
    copied = open_store(f"sqlite:{tmp_path / 'copy.db'}")
    seen: list[int] = []
    assert await move_store(store, copied, seen.append) == 2
    assert seen == [2]
    assert await copied.records.scan(0, 9) == await store.records.scan(0, 9)
    with pytest.raises(UsageError, match="is not empty"):
        await move_store(store, copied)
    await copied.close()
