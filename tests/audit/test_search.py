"""Search: what is wanted is found, page by page, and no page takes long."""

import itertools
import json
import sqlite3
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sayso.audit import Outcome
from sayso.audit.query import ATTENTION, Filter, RecordPage, needs_attention, search
from sayso.store import Database, RecordRow

pytestmark = pytest.mark.anyio

FILTERS = [
    (Filter(), [5, 4, 3, 2, 1]),
    (Filter(text="NOTE"), [5, 2, 1]),
    (Filter(text="Größe"), [4]),
    (Filter(text="GRÖSSE"), [4]),
    (Filter(text="größe"), [4]),
    (Filter(server="crm"), [5, 4, 2, 1]),
    (Filter(tool="note_add"), [2]),
    (Filter(tool="note"), []),
    (Filter(level="destructive"), [4]),
    (Filter(decision="deny"), [4]),
    (Filter(outcome="ok"), [5, 2, 1]),
    (Filter(outcome="ok", server="crm", level="read"), [5, 1]),
    (Filter(severity="critical"), [3]),
    (Filter(is_attention=True), [3]),
    (Filter(subject="bo"), [4, 3]),
    (Filter(subject="b"), []),
    (Filter(client="desk"), [5, 4, 1]),
    (Filter(since=2.0, until=4.0), [3, 2]),
]


def row(number: int, subject: str = "amy", **body: Any) -> RecordRow:
    payload = json.dumps({"subject": subject, "salt": "s", "arguments": {"id": number}})
    text = json.dumps(body, separators=(",", ":"))
    return RecordRow(f"c{number}", float(number), "outcome", text, payload=payload, subject=subject)


ROWS = [
    row(1, server="crm", tool="note_list", level="read", outcome="ok", client="Desk"),
    row(2, server="crm", tool="note_add", level="write", outcome="ok", client="night"),
    row(3, "bo", server="web", tool="x", outcome="outcome_unknown", severity="critical"),
    row(4, "bo", server="crm", tool="y", title="Die Größe", level="destructive", decision="deny",
        outcome="denied", client="desk-2"),
    row(5, server="crm", tool="note_list", level="read", outcome="ok", client="desk"),
]  # fmt: skip


def numbers(found: RecordPage) -> list[int]:
    return [int(one.call[1:]) for one in found.rows]


@pytest.mark.parametrize(("wanted", "expected"), FILTERS)
async def test_a_filter_finds_what_it_names_and_nothing_else(
    store: Database, wanted: Filter, expected: list[int]
) -> None:
    await store.records.append(ROWS)

    found = await search(store.records, wanted)

    assert numbers(found) == expected
    assert (found.older, found.is_cut) == (None, False)
    assert all(json.loads(one.body)["arguments"] for one in found.rows)


@pytest.mark.parametrize(("wanted", "expected"), FILTERS)
async def test_pages_of_one_come_to_the_same(
    store: Database, wanted: Filter, expected: list[int]
) -> None:
    await store.records.append(ROWS)
    before, all_found = None, list[int]()

    for _ in range(len(ROWS) + 1):
        found = await search(store.records, wanted, before=before, limit=1)
        all_found += numbers(found)
        if (before := found.older) is None:
            break

    assert all_found == expected
    assert before is None


async def test_an_empty_log_is_searched_at_once(store: Database) -> None:
    found = await search(store.records, Filter(tool="x"))

    assert found == RecordPage([], None, 0)


async def test_when_time_runs_out_it_says_where_to_go_on(store: Database) -> None:
    await store.records.append(
        [row(number, tool="x" if number == 1 else "y") for number in range(1, 5001)]
    )
    ticks = itertools.count(0.0, 1.0)

    cut = await search(store.records, Filter(tool="x"), seconds=2.0, clock=ticks.__next__)
    again = await search(store.records, Filter(tool="x"), before=cut.older)

    assert (cut.rows, cut.is_cut, cut.looked) == ([], True, 2048)
    assert cut.older == 5001 - 2048
    assert (numbers(again), again.older, again.is_cut) == ([1], None, False)
    assert cut.looked + again.looked == 5000


async def test_steps_grow_while_they_are_quick_and_shrink_when_they_are_not(
    store: Database,
) -> None:
    await store.records.append([row(number, tool="y") for number in range(1, 9001)])
    took = iter([0.0, 0.0, 0.001, 0.001, 0.1, 0.1, 9.0])

    found = await search(store.records, Filter(tool="x"), seconds=5.0, clock=took.__next__)

    assert (found.looked, found.is_cut) == (2048 + 4096 + 2048, True)


async def test_a_line_may_be_out_of_order_by_what_clocks_differ(store: Database) -> None:
    await store.records.append([row(one, tool="x") for one in (1000, 1100, 990, 1200, 1105, 1300)])

    found = await search(store.records, Filter(since=990.0, until=1106.0))

    assert numbers(found) == [1105, 990, 1100, 1000]


async def test_what_nobody_must_look_into_needs_no_attention() -> None:
    assert not needs_attention({"outcome": "ok", "severity": "warning"})
    assert not needs_attention({"outcome": "denied"})
    assert needs_attention({"outcome": "failed"})


def is_let_through(wanted: Filter, one: RecordRow) -> bool:
    """Whether SQLite, asked by the prefilter of a filter, gives this line."""
    conditions, values = wanted.prefilter().conditions()
    db = sqlite3.connect(":memory:")
    db.execute("CREATE TABLE records (body TEXT)")
    db.execute("INSERT INTO records VALUES (?)", (one.body,))
    where = " AND ".join(["1 = 1", *conditions])
    sql = f"SELECT 1 FROM records WHERE {where}"  # noqa: S608 - the conditions are ours
    found = db.execute(sql, values).fetchall()
    db.close()
    return bool(found)


@given(st.text(max_size=20), st.text(max_size=8))
def test_what_a_filter_matches_its_sieve_lets_through(title: str, part: str) -> None:
    one, wanted = row(1, tool="t", title=title), Filter(text=part)

    assert is_let_through(wanted, one) or not wanted.matches(one)


@pytest.mark.parametrize("separators", [(",", ":"), (", ", ": ")])
@pytest.mark.parametrize("outcome", [str(one) for one in Outcome])
def test_no_end_that_needs_attention_is_sifted_out(
    outcome: str, separators: tuple[str, str]
) -> None:
    body = {"reason": 'it says "outcome":"ok"', "outcome": outcome}
    one = replace(row(1), body=json.dumps(body, separators=separators))
    wanted = Filter(is_attention=True)

    assert wanted.matches(one) is (outcome in ATTENTION)
    assert is_let_through(wanted, one) or not wanted.matches(one)
