"""A database that drops, changes or adds records: what then runs, and what verifies."""

from collections.abc import Mapping

import pytest
from tests.databases import Place
from tests.guard.world import World
from tests.sample_tools import AMY, DELETE, tool
from tests.store.writing import write

from sayso.approvals import Approvals
from sayso.audit import AuditLog, Outcome, open_audit
from sayso.audit.verifier import verify
from sayso.guard import Guard
from sayso.keys import Keyring
from sayso.policy import Policy
from sayso.store import Database

KEYS = Keyring.of([b"k" * 32])
UNASKED = Policy(asks=False)


def on_sqlite(moment: str, work: str) -> tuple[str, ...]:
    """A trigger on attempts."""
    what = f"INSERT ON records WHEN new.event = 'attempt' BEGIN {work}; END"
    return (f"CREATE TRIGGER eve {moment} {what}",)


def on_postgresql(moment: str, work: str, timing: str = "") -> tuple[str, ...]:
    """A trigger on attempts, and its function."""
    constraint = "CONSTRAINT" if timing else ""
    run = "FOR EACH ROW WHEN (new.event = 'attempt') EXECUTE FUNCTION eve()"
    return (
        f"CREATE FUNCTION eve() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN {work}; END$$",
        f"CREATE {constraint} TRIGGER eve {moment} INSERT ON records {timing} {run}",
    )


_DELETE = "DELETE FROM records WHERE seq = new.seq"
_CHANGE = "UPDATE records SET {} WHERE seq = new.seq"
WAYS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "sqlite": {
        "ignores": on_sqlite("BEFORE", "SELECT RAISE(IGNORE)"),
        "deletes": on_sqlite("AFTER", _DELETE),
        "changes": on_sqlite("AFTER", _CHANGE.format("body = '{}'")),
        "renames": on_sqlite("AFTER", _CHANGE.format("call = 'other'")),
        "erases": on_sqlite("AFTER", _CHANGE.format("payload = NULL")),
        "hides": (
            "ALTER TABLE records RENAME TO kept",
            "CREATE VIEW records AS SELECT * FROM kept WHERE event <> 'attempt'",
            "CREATE TRIGGER eve INSTEAD OF INSERT ON records BEGIN SELECT 1; END",
        ),
    },
    "postgresql": {
        "ignores": on_postgresql("BEFORE", "RETURN NULL"),
        "deletes": on_postgresql("AFTER", f"{_DELETE}; RETURN NULL"),
        "deletes at the commit": on_postgresql(
            "AFTER", f"{_DELETE}; RETURN NULL", "DEFERRABLE INITIALLY DEFERRED"
        ),
        "changes": on_postgresql("BEFORE", "new.body = '{}'; RETURN new"),
        "renames": on_postgresql("BEFORE", "new.call = 'other'; RETURN new"),
        "erases": on_postgresql("BEFORE", "new.payload = NULL; RETURN new"),
        "rule": (
            "CREATE RULE eve AS ON INSERT TO records WHERE new.event = 'attempt' DO INSTEAD NOTHING",  # noqa: E501
        ),
    },
}


@pytest.mark.parametrize("is_chained", [True, False])
@pytest.mark.parametrize("kind", [*{**WAYS["sqlite"], **WAYS["postgresql"]}])
async def test_what_the_database_does_not_keep_does_not_run(
    store: Database, place: Place, kind: str, *, is_chained: bool
) -> None:
    statements = WAYS[place.kind].get(kind)
    if statements is None:
        pytest.skip("this database has no such way")
    world = World(store)
    world.tools = {"delete": tool("delete", DELETE)}
    async with open_audit(store, KEYS) as log:
        used = log if is_chained else AuditLog(store.records)
        guard = Guard(
            world.find,
            world.run,
            Approvals.of(store, keys=KEYS),
            used,
            store.claims,
            lambda: UNASKED,
        )
        await guard.call(AMY, "delete", {"n": 1})
        assert len(world.ran) == 1
        await write(store, *statements)
        answer = await guard.call(AMY, "delete", {"n": 2})
        assert answer["isError"]
        assert len(world.ran) == 1
        if kind == "hides":
            await write(store, "DROP VIEW records", "ALTER TABLE kept RENAME TO records")
        elif kind == "rule":
            await write(store, "DROP RULE eve ON records")
        else:
            of = "" if place.kind == "sqlite" else "ON records"
            await write(store, f"DROP TRIGGER eve {of}")


async def a_chain(store: Database) -> None:
    """A log with a chain of two records."""
    async with open_audit(store, KEYS) as log:
        await log.refused("c", AMY, name="x", outcome=Outcome.UNKNOWN_TOOL)


ADDED: Mapping[str, str] = {
    "number 0": "VALUES (0, 'x', 1, 'outcome', '{}', NULL, NULL)",
    "a number below 0": "VALUES (-5, 'x', 1, 'outcome', '{}', NULL, NULL)",
    "the lowest number": "VALUES (-9223372036854775807, 'x', 1, 'outcome', '{}', NULL, NULL)",
    "an empty writer": "VALUES (99, 'x', 1, 'outcome', '{}', '', 1)",
    "an unknown writer": "VALUES (99, 'x', 1, 'outcome', '{}', 'eve', 1)",
    "a place below the first": (
        "SELECT 99, call, at, event, body, writer, -1 FROM records WHERE seq = 1"
    ),
    "no place": "SELECT 99, call, at, event, body, writer, NULL FROM records WHERE seq = 1",
    "place 0": "SELECT 99, call, at, event, body, writer, 0 FROM records WHERE seq = 1",
    "a body that is no JSON": "VALUES (99, 'x', 1, 'outcome', 'x', NULL, NULL)",
}


@pytest.mark.parametrize("sql", ADDED.values(), ids=ADDED)
async def test_a_record_that_was_put_in_is_found(store: Database, sql: str) -> None:
    await a_chain(store)
    assert (await verify(store.records, KEYS)).problems == []
    await write(store, f"INSERT INTO records (seq, call, at, event, body, writer, idx) {sql}")
    assert (await verify(store.records, KEYS)).problems != []


async def test_a_record_that_is_moved_below_the_first_number_is_found(store: Database) -> None:
    await a_chain(store)
    await write(store, "UPDATE records SET seq = 0 WHERE seq = 1")
    assert (await verify(store.records, KEYS)).problems != []


@pytest.mark.parametrize("payload", ["x", "[]", "null", "7", '"x"'])
async def test_a_payload_that_cannot_be_read_breaks_no_verification(
    store: Database, payload: str
) -> None:
    await write(
        store,
        "INSERT INTO records (call, at, event, body, payload) "
        "VALUES ('x', 1, 'outcome', '{}', :payload)",
        payload=payload,
    )
    assert (await verify(store.records, KEYS)).problems != []
