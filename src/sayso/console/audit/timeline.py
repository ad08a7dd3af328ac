"""A conversation: the calls of one person through one client with no long silence between them."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Final

from sayso.audit import AuditLog, Filter, merged
from sayso.console.audit.calls import Line, LoggedCall
from sayso.console.audit.listing import with_lines
from sayso.store import RecordRow

MOST: Final = 50
"""How many calls are shown at each side of the one that was asked about."""
_STEP: Final = 100
_STEPS: Final = 5


@dataclass(frozen=True, slots=True)
class Conversation:
    """Its calls, oldest first; `is_cut` says that it goes on beyond what is shown."""

    calls: list[LoggedCall]
    is_cut: bool


async def conversation_of(log: AuditLog, line: Line, seq: int, *, idle: float) -> Conversation:
    """The conversation that one line, of number `seq`, stands in; `idle` seconds end one."""
    first, last = await log.records.bounds()
    wanted = Filter(subject=line["subject"], client=line["client"])
    before, is_cut_before = await _side(log, wanted, line, (first, seq), idle, is_rising=False)
    after, is_cut_after = await _side(log, wanted, line, (seq + 1, last), idle, is_rising=True)
    calls = await with_lines(log.records, [*reversed(before), *after])
    return Conversation(calls, is_cut_before or is_cut_after)


async def _side(
    log: AuditLog,
    wanted: Filter,
    line: Line,
    bounds: tuple[int, int],
    idle: float,
    *,
    is_rising: bool,
) -> tuple[list[RecordRow], bool]:
    """The calls at one side, nearest first, as far as the silences are short."""
    at = line.at
    found = list[RecordRow]()
    async for row in _walk(log, wanted, bounds, is_rising=is_rising):
        if row is None or len(found) == MOST:
            return found, True
        if abs(row.at - at) > idle:
            break
        # A client is meant exactly here: “desk” is not “desk-agent”.
        if Line.from_row(row)["client"] == line["client"]:
            found.append(merged(row))
            at = row.at
    return found, False


async def _walk(
    log: AuditLog, wanted: Filter, bounds: tuple[int, int], *, is_rising: bool
) -> AsyncGenerator[RecordRow | None]:
    low, high = bounds
    prefilter = wanted.prefilter()
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
