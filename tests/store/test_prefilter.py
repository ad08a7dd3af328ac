"""Looking for lines: the same in both databases."""

import json
from typing import Any

import pytest
from tests.databases import Place

from sayso.audit import open_audit
from sayso.audit.upkeep import erase_subject
from sayso.audit.verifier import verify
from sayso.keys import Keyring
from sayso.store import Database, Prefilter, RecordRow, open_store

pytestmark = pytest.mark.anyio


def line(
    call: str, at: float, event: str = "outcome", subject: str = "amy", **body: Any
) -> RecordRow:
    payload = json.dumps({"subject": subject, "arguments": {}})
    return RecordRow(call, at, event, json.dumps(body), payload=payload, subject=subject)


async def found(store: Database, prefilter: Prefilter, *, is_rising: bool = False) -> list[str]:
    rows = await store.records.matching(prefilter, 1, 1000, limit=100, is_rising=is_rising)
    return [row.call for row in rows]


async def test_a_call_stands_where_its_last_line_does(store: Database) -> None:
    await store.records.append([line("a", 1.0, "attempt"), line("b", 2.0), line("a", 3.0)])
    await store.records.append(
        [RecordRow("", 4.0, "opened", "{}"), RecordRow("", 5.0, "erased", "{}")]
    )

    assert await found(store, Prefilter()) == ["", "", "a", "b"]
    assert await found(store, Prefilter(), is_rising=True) == ["b", "a", "", ""]
    (last,) = await store.records.matching(Prefilter(), 1, 3, limit=1)
    assert (last.seq, last.at, last.subject) == (3, 3.0, "amy")
    # A line that is not the last one is not found by what it says, either.
    assert await found(store, Prefilter(until=2.0)) == []


async def test_texts_words_people_and_times_are_filtered(store: Database) -> None:
    await store.records.append(
        [
            line("a", 1.0, tool="note_100%", outcome="ok"),
            line("b", 2.0, tool="note_1000", outcome="error", subject="bo"),
            line("c", 3.0, tool="Mail!", outcome="denied"),
        ]
    )

    assert await found(store, Prefilter((('"ok"', '"denied"'),))) == ["c", "a"]
    assert await found(store, Prefilter((('"ok"',), ('"denied"',)))) == []
    # What is a sign to the database is a letter like any other here.
    assert await found(store, Prefilter((('"note_100%"',),))) == ["a"]
    assert await found(store, Prefilter((('"noteX100%"',),))) == []
    assert await found(store, Prefilter(without=('"ok"', '"denied"'))) == ["b"]
    assert await found(store, Prefilter(words=("mail!",))) == ["c"]
    assert await found(store, Prefilter(words=("note", "1000"))) == ["b"]
    assert await found(store, Prefilter(subject="bo")) == ["b"]
    assert await found(store, Prefilter(subject="zed\0")) == []
    assert await found(store, Prefilter(since=2.0, until=3.0)) == ["b"]


async def test_all_lines_of_some_calls_come_oldest_first(store: Database) -> None:
    await store.records.append([line("a", 1.0), line("b", 2.0), line("a", 3.0), line("c", 4.0)])

    assert [row.at for row in await store.records.of_calls(["c", "a"])] == [1.0, 3.0, 4.0]
    assert await store.records.of_calls([]) == []
    assert await store.records.of_calls(["a\0"]) == []


async def test_bounds_and_places_are_found_where_numbers_are_missing(store: Database) -> None:
    assert await store.records.bounds() == (1, 0)
    assert await store.records.place_of(5.0) == 1
    rows = [RecordRow(f"c{seq}", float(seq), "outcome", "{}", seq=seq) for seq in (3, 4, 9, 20)]
    await store.load(rows)

    assert await store.records.bounds() == (3, 20)
    for at, seq in ((0.0, 3), (3.5, 4), (4.0, 4), (9.0, 9), (15.0, 10), (20.0, 20), (99.0, 21)):
        place = await store.records.place_of(at)
        after = [row.seq for row in rows if row.seq >= place]
        assert after == [row.seq for row in rows if row.seq >= seq], at


async def test_whoever_is_erased_is_found_no_more(place: Place) -> None:
    store, keys = open_store(place.url), Keyring.of([b"k" * 32])
    async with open_audit(store, keys) as log:
        await store.records.append([line("a", 1.0), line("b", 2.0, subject="bo")], seal=log.chain)
        await erase_subject(log, "amy")
        assert await found(store, Prefilter(subject="amy")) == []
        assert await found(store, Prefilter(subject="bo")) == ["b"]
        report = await verify(store.records, keys)
    await store.close()
    assert report.problems == []


async def test_a_grant_is_taken_back_once_and_that_is_written_once(store: Database) -> None:
    row = line("", 1.0, "revoked", "bo")
    assert not await store.grants.revoke(1, by="bo", now=1.0, record=row)
    assert await store.records.count() == 0
