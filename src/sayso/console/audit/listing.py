"""Calls that match a filter, as a page or a download, and the conversation of a call."""

from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Final

from sayso.audit import AuditLog, Filter, RecordPage, export, merged, search
from sayso.console.audit.calls import Line, LoggedCall, read_calls
from sayso.store import RecordRow, Records

TYPES: Final[Mapping[str, str]] = {"jsonl": "application/jsonl", "csv": "text/csv"}
_HEADINGS: Final[Mapping[str, int]] = {"jsonl": 0, "csv": 1}
_EXPORTED_AT_ONCE: Final = 500

PAGE: Final = 50
"""The number of calls on a page."""
MOST: Final = 50
"""The maximum calls of a conversation that are shown before the chosen call, and after it."""
_STEP: Final = 100
_STEPS: Final = 5
SECONDS: Final = 0.08
"""The approximate time limit of a search."""


@dataclass(frozen=True, slots=True)
class Listing:
    """Calls, newest first, and the page of records they come from.

    `newest` is the number of the log's last line.
    """

    calls: list[LoggedCall]
    found: RecordPage
    newest: int


async def list_calls(log: AuditLog, filter_: Filter, before: int | None = None) -> Listing:
    """Return the newest matching calls before a sequence number."""
    page = await search(log.records, filter_, before=before, limit=PAGE, seconds=SECONDS)
    _, newest = await log.records.bounds()
    return Listing(await _with_lines(log.records, page.rows), page, newest)


async def _with_lines(records: Records, last: list[RecordRow]) -> list[LoggedCall]:
    rows = await records.of_calls([row.call for row in last if row.call])
    whole = {call.last.call: call for call in read_calls(map(merged, reversed(rows)))}
    # A line about the log itself has no call, so it is listed alone.
    return [whole.get(row.call) or LoggedCall((Line.from_row(row),)) for row in last]


async def exported(records: Records, filter_: Filter, form: str) -> AsyncGenerator[str]:
    """Yield a file for download, in parts: the last record of each matching call, newest first.

    `form` is a key of `TYPES`.
    """
    before: int | None = None
    skipped = 0
    while True:
        page = await search(records, filter_, before=before, limit=_EXPORTED_AT_ONCE)
        # Skip the heading of a table after the first part.
        yield "".join(islice(export(page.rows, form), skipped, None))
        if page.older is None:
            return
        before = page.older
        skipped = _HEADINGS[form]


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation's calls, oldest first; `is_cut` if not all are shown."""

    calls: list[LoggedCall]
    is_cut: bool


async def conversation_of(log: AuditLog, line: Line, seq: int, *, idle: float) -> Conversation:
    """Return the conversation around the line number `seq`; a gap of `idle` seconds ends it."""
    first, last = await log.records.bounds()
    filter_ = Filter(subject=line["subject"], client=line["client"])
    before, is_cut_before = await _side(log, filter_, line, (first, seq), idle, is_rising=False)
    after, is_cut_after = await _side(log, filter_, line, (seq + 1, last), idle, is_rising=True)
    calls = await _with_lines(log.records, [*reversed(before), *after])
    return Conversation(calls, is_cut_before or is_cut_after)


async def _side(
    log: AuditLog,
    filter_: Filter,
    line: Line,
    bounds: tuple[int, int],
    idle: float,
    *,
    is_rising: bool,
) -> tuple[list[RecordRow], bool]:
    at = line.at
    rows = list[RecordRow]()
    async for row in _walk(log, filter_, bounds, is_rising=is_rising):
        if row is None or len(rows) == MOST:
            return rows, True
        if abs(row.at - at) > idle:
            break
        # Compare the whole name, because the filter also finds “desk-agent” for “desk”.
        if Line.from_row(row)["client"] == line["client"]:
            rows.append(merged(row))
            at = row.at
    return rows, False


async def _walk(
    log: AuditLog, filter_: Filter, bounds: tuple[int, int], *, is_rising: bool
) -> AsyncGenerator[RecordRow | None]:
    low, high = bounds
    prefilter = filter_.prefilter()
    for _ in range(_STEPS):
        rows = await log.records.matching(prefilter, low, high, limit=_STEP, is_rising=is_rising)
        for row in rows:
            yield row
        if len(rows) < _STEP:
            return
        if is_rising:
            low = rows[-1].seq + 1
        else:
            high = rows[-1].seq - 1
    yield None
