"""The queue of pending questions, and recent events."""

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from sayso.approvals import Approval
from sayso.audit import AuditLog, Event
from sayso.console.arguments import in_short
from sayso.console.audit.calls import LoggedCall, read_calls
from sayso.gateway import ClusterCalls, Reached
from sayso.guard import Guard
from sayso.store import RecordRow

SHOWN: Final = 50
"""The number of pending questions shown at first, and added by “Show more”."""
_MOST: Final = 500
_MOST_SETTLED: Final = 200
_MOST_RECENT: Final = 20
_GRACE: Final = 5.0
_NEWEST_LINES: Final = 300
_NEWEST_CALLS: Final = 60
_MOST_LINES: Final = 100
"""The number of log lines to read for a call, which is more than a call can have."""


@dataclass(frozen=True, slots=True)
class Queue:
    """The number of pending questions, which every page shows."""

    waiting: int


@dataclass(frozen=True, slots=True)
class Seen:
    """The calls of questions, by question number.

    `calls` are the logged calls that used an approval, `runs` the progress of running calls.
    """

    calls: Mapping[int, LoggedCall] = field(default_factory=dict[int, LoggedCall])
    runs: Mapping[int, Reached] = field(default_factory=dict[int, Reached])


@dataclass(frozen=True, slots=True)
class Lately:
    """A recent event: a settled question, or a call that did not ask a person."""

    at: float
    approval: Approval | None = None
    call: LoggedCall | None = None


@dataclass(frozen=True, slots=True)
class Live:
    """The queue for its page. Callers take turns, each with the oldest question first.

    `rows` are up to `limit` pending questions, and those settled `since` the page was opened.
    `more` questions are not shown. `waits` is when a question's last agent stopped waiting, or
    `None` while an agent waits. `version` changes with any of this. A `query` filters the rows.
    """

    waiting: int
    limit: int
    more: int
    rows: tuple[Approval, ...]
    lately: tuple[Lately, ...]
    seen: Seen
    waits: Mapping[int, float | None]
    since: float
    query: str
    version: str


async def load_queue(guard: Guard) -> Queue:
    """Return the number of pending questions."""
    return Queue(await guard.approvals.questions.count_pending(now=guard.clock()))


async def load_live(
    guard: Guard, runs: ClusterCalls, since: float, query: str = "", limit: int = SHOWN
) -> Live:
    """Return the queue for a page that was opened at `since`, in Unix seconds."""
    waiting = await guard.approvals.questions.count_pending(now=guard.clock())
    pending = await guard.approvals.pending(_MOST if query else min(limit, _MOST))
    matches = [approval for approval in pending if is_about(approval, query)]
    shown = matches[:limit]
    settled = await guard.approvals.settled(_MOST_SETTLED)
    more = (len(matches) if query else waiting) - len(shown)
    last = None
    if more and shown:
        last = max(approval.number for approval in shown)
    settled_since = [
        approval
        for approval in settled
        if (approval.answered_at or approval.expires) > since
        and (last is None or approval.number < last)
        and is_about(approval, query)
    ]
    numbers = {approval.number for approval in settled_since}
    recent = [approval for approval in settled if approval.number not in numbers][:_MOST_RECENT]
    waits = await _waits(guard, shown)
    seen = await look(guard.audit, runs, settled_since, ended=recent)
    lately = _lately(recent, await _unasked(guard.audit))
    return Live(
        waiting,
        limit,
        max(more, 0),
        tuple(_in_turns([*shown, *settled_since])),
        tuple(lately),
        seen,
        waits,
        since,
        query,
        _version([*shown, *settled_since, *recent], seen, waits, lately),
    )


def _in_turns(approvals: Iterable[Approval]) -> list[Approval]:
    """Return the first question of each caller, then the second, and so on, in a stable order."""
    turns = Counter[str]()
    places: list[tuple[int, int, Approval]] = []
    for approval in sorted(approvals, key=lambda approval: approval.number):
        caller = approval.question.account
        turns[caller] += 1
        places.append((turns[caller], approval.number, approval))
    return [approval for *_, approval in sorted(places, key=lambda place: place[:2])]


def is_about(approval: Approval, query: str) -> bool:
    """Return whether a question's row contains every word of `query`."""
    if not query:
        return True
    question = approval.question
    texts = (
        question.title,
        question.tool,
        question.server,
        question.client,
        question.subject,
        in_short(question.arguments),
    )
    text = " ".join(texts).lower()
    return all(word in text for word in query.lower().split())


async def look(
    log: AuditLog,
    runs: ClusterCalls,
    approvals: Iterable[Approval],
    *,
    ended: Iterable[Approval] = (),
) -> Seen:
    """Return the calls of all these questions; progress only for `approvals`, not for `ended`."""
    calls: dict[int, LoggedCall] = {}
    reached: dict[int, Reached] = {}
    for approval in approvals:
        await _look_up(log, approval, calls)
        call = calls.get(approval.number)
        if approval.used_by is None or (call is not None and call.outcome):
            continue
        run = await runs.find(approval.used_by)
        if run is not None:
            reached[approval.number] = run
    for approval in ended:
        await _look_up(log, approval, calls)
    return Seen(calls, reached)


async def _look_up(log: AuditLog, approval: Approval, calls: dict[int, LoggedCall]) -> None:
    if approval.used_by is None:
        return
    lines = await log.newest(call=approval.used_by, limit=_MOST_LINES)
    if lines:
        (calls[approval.number],) = read_calls(lines)


async def _waits(guard: Guard, rows: Sequence[Approval]) -> Mapping[int, float | None]:
    if not rows:
        return {}
    lines = await guard.audit.records.newest(limit=_NEWEST_LINES)
    return _read_waits(lines, patience=guard.patience, now=guard.clock())


def _read_waits(
    rows: Iterable[RecordRow], *, patience: float, now: float
) -> Mapping[int, float | None]:
    """Return for each question when its last call stopped waiting. `rows` are newest first.

    `None` means that a call waits. A call that has logged nothing for more than `patience` seconds
    does not wait, because its process has ended.
    """
    ends: dict[str, float] = {}
    waits: dict[int, float | None] = {}
    for row in rows:
        if row.event != Event.ASKED:
            ends.setdefault(row.call, row.at)
            continue
        number = json.loads(row.body)["approval"]
        end = ends.get(row.call)
        if end is None and now > row.at + patience + _GRACE:
            end = row.at + patience
        last = waits.get(number, end)
        waits[number] = None
        if last is not None and end is not None:
            waits[number] = max(last, end)
    return waits


async def _unasked(log: AuditLog) -> list[LoggedCall]:
    calls = read_calls(await log.newest(limit=_NEWEST_CALLS))
    return [call for call in calls if call.approval is None and call.last["tool"]][:_MOST_RECENT]


def _lately(recent: Sequence[Approval], calls: Sequence[LoggedCall]) -> list[Lately]:
    events = [
        Lately(approval.answered_at or approval.expires, approval=approval) for approval in recent
    ]
    events += [Lately(call.last.at, call=call) for call in calls]
    return sorted(events, key=lambda event: event.at, reverse=True)[:_MOST_RECENT]


def _version(
    approvals: Sequence[Approval],
    seen: Seen,
    waits: Mapping[int, float | None],
    lately: Sequence[Lately],
) -> str:
    states: list[str] = []
    for approval in approvals:
        number = approval.number
        call = _state(seen.calls.get(number))
        states.append(f"{number}{approval.state}{waits.get(number, '')}{call}{number in seen.runs}")
    states += [f"{event.call.last.call}{_state(event.call)}" for event in lately if event.call]
    return hashlib.sha256(",".join(states).encode()).hexdigest()[:16]


def _state(call: LoggedCall | None) -> str:
    return f"{call.last.event}{call.outcome}" if call else ""
