"""The questions as they stand: those that wait, and those that were settled lately."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from avow.approvals import Approval, ApprovalState
from avow.audit import AuditLog
from avow.console.calls import LoggedCall, read_calls
from avow.console.waits import read_waits
from avow.guard import Guard

_MOST: Final = 500
_MOST_RECENT: Final = 20
_NEWEST_LINES: Final = 500
_MOST_LINES: Final = 100
"""Of one call: more than it can have."""


@dataclass(frozen=True, slots=True)
class Queue:
    """What waits, the oldest first, so that a new question moves none that is being read.

    As far as the log tells, by a question's number: `calls` are those that used an approval, and
    `waits` is when the last agent stopped waiting for an answer, `None` while one waits.
    `version` changes whenever any of this does.
    """

    pending: tuple[Approval, ...]
    recent: tuple[Approval, ...]
    calls: Mapping[int, LoggedCall]
    waits: Mapping[int, float | None]
    version: str


async def load_queue(guard: Guard, *shown: Approval | None) -> Queue:
    """The queue as it stands now; `calls` has those of the approvals `shown` beside it too."""
    newest = await guard.approvals.newest(_MOST)
    pending = [one for one in newest if one.state is ApprovalState.PENDING]
    recent = [one for one in newest if one.state is not ApprovalState.PENDING][:_MOST_RECENT]
    waits = await _waits(guard, pending)
    calls = await _calls(guard.audit, [*recent, *(one for one in shown if one is not None)])
    states = [f"{one.number}{one.state}" for one in (*pending, *recent)]
    states += [f"{one.number}{_state(calls.get(one.number))}" for one in recent]
    states += [f"{one.number}{waits.get(one.number, '')}" for one in pending]
    version = hashlib.sha256(",".join(states).encode()).hexdigest()[:16]
    return Queue(tuple(reversed(pending)), tuple(recent), calls, waits, version)


async def _waits(guard: Guard, pending: Sequence[Approval]) -> Mapping[int, float | None]:
    if not pending:
        return {}
    rows = await guard.audit.newest(limit=_NEWEST_LINES)
    return read_waits(rows, patience=guard.patience, now=guard.clock())


async def _calls(log: AuditLog, approvals: Iterable[Approval]) -> dict[int, LoggedCall]:
    calls: dict[int, LoggedCall] = {}
    for one in approvals:
        if one.used_by is not None and one.number not in calls:
            rows = await log.newest(call=one.used_by, limit=_MOST_LINES)
            if rows:
                (calls[one.number],) = read_calls(rows)
    return calls


def _state(call: LoggedCall | None) -> str:
    return f"{call.last.event}{call.outcome}" if call else ""
