"""Search in the log: newest first, page by page, each within a bounded time.

Only number, call and subject are indexed, so that writing is fast. A search walks back from the
newest record in short steps. `store.prefilter` selects in the database without reading JSON and may
select too much, so `Filter` checks each record again. After about a tenth of a second, `search`
returns the records found so far and where to continue.
"""

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from sayso.audit.record import Outcome, merged
from sayso.store import Prefilter, RecordRow, Records

ATTENTION: Final = (
    Outcome.TOOL_ERROR,
    Outcome.ERROR,
    Outcome.BAD_OUTPUT,
    Outcome.FAILED,
    Outcome.UNREACHABLE,
    Outcome.TOOL_CHANGED,
    Outcome.BROKE_CONTRACT,
    Outcome.OUTCOME_UNKNOWN,
)
"""Outcomes that need attention."""
_OUTCOME: Final = '"outcome":'
_OUTCOME_OK: Final = '"outcome":"ok"'
"""Parts of a record's JSON. Inside a JSON string their quotes are escaped, so a match is a key."""
_SKEW_SECONDS: Final = 120.0
"""How far the times of records may be out of order: clocks differ, and commits may be late."""
_FIRST_STEP: Final = 2_048
_MOST_STEP: Final = 32_768
_QUICK_SECONDS: Final = 0.01
_NAMED: Final = ("server", "tool", "level", "decision", "outcome", "severity")


@dataclass(frozen=True, slots=True)
class Filter:
    """A filter of calls; empty fields match everything. Times are Unix seconds.

    `text` is a part of the tool's name or title, and `client` a part of the client's name; both
    ignore case. All other fields match exactly. `is_attention` selects calls that need attention.
    """

    text: str = ""
    server: str = ""
    tool: str = ""
    level: str = ""
    decision: str = ""
    outcome: str = ""
    severity: str = ""
    subject: str = ""
    client: str = ""
    since: float | None = None
    until: float | None = None
    is_attention: bool = False

    def matches(self, row: RecordRow) -> bool:
        if not self._is_about(row):
            return False
        body: dict[str, Any] = json.loads(row.body)
        return (
            all(not wanted or body.get(name) == wanted for name, wanted in self._named())
            and _holds(f"{body.get('tool', '')}\n{body.get('title', '')}", self.text)
            and _holds(body.get("client", ""), self.client)
            and (not self.is_attention or needs_attention(body))
        )

    def prefilter(self) -> Prefilter:
        texts = [(json.dumps(wanted),) for _, wanted in self._named() if wanted]
        without: tuple[str, ...] = ()
        if self.is_attention:
            texts.append((_OUTCOME,))
            without = (_OUTCOME_OK,)
        words = [word for word in (self.text, self.client) if word and _is_plain(word)]
        return Prefilter(
            tuple(texts),
            without,
            tuple(json.dumps(word)[1:-1].lower() for word in words),
            self.subject or None,
            self.since,
            self.until,
        )

    def _named(self) -> list[tuple[str, str]]:
        return [(name, getattr(self, name)) for name in _NAMED]

    def _is_about(self, row: RecordRow) -> bool:
        return (
            (not self.subject or row.subject == self.subject)
            and (self.since is None or row.at >= self.since)
            and (self.until is None or row.at < self.until)
        )


def needs_attention(body: Mapping[str, Any]) -> bool:
    """Return whether a record's outcome is one of `ATTENTION`."""
    return body.get("outcome") in ATTENTION


@dataclass(frozen=True, slots=True)
class RecordPage:
    """One page: the last record of each call, newest first, with the payload merged into the body.

    The next page has the records before number `older`, which is `None` on the last page. `looked`
    is the number of records that were searched. `is_cut` is set if time ran out before the page was
    full.
    """

    rows: list[RecordRow]
    older: int | None
    looked: int
    is_cut: bool = False


async def search(
    records: Records,
    wanted: Filter,
    *,
    before: int | None = None,
    limit: int = 50,
    seconds: float = 0.1,
    clock: Callable[[], float] = time.perf_counter,
) -> RecordPage:
    """Return the newest `wanted` calls before record number `before`, within about `seconds`."""
    prefilter = wanted.prefilter()
    started = clock()
    floor, top = await _range(records, wanted, before)
    rows: list[RecordRow] = []
    high = top
    step = _FIRST_STEP
    while high >= floor and len(rows) <= limit:
        began = clock()
        low = max(floor, high - step + 1)
        some = await records.matching(prefilter, low, high, limit=limit + 1)
        rows += [row for row in some if wanted.matches(row)]
        if len(some) > limit:
            low = some[-1].seq
        high = low - 1
        now = clock()
        if now - started >= seconds:
            break
        step = _next_step(step, now - began)
    if len(rows) > limit:
        last = rows[limit - 1].seq
        return RecordPage([merged(row) for row in rows[:limit]], last, top - last + 1)
    is_cut = high >= floor
    older = high + 1 if is_cut else None
    return RecordPage([merged(row) for row in rows], older, max(0, top - high), is_cut)


async def _range(records: Records, wanted: Filter, before: int | None) -> tuple[int, int]:
    floor, top = await records.bounds()
    if before is not None:
        top = min(top, before - 1)
    if wanted.since is not None:
        floor = max(floor, await records.place_of(wanted.since - _SKEW_SECONDS))
    if wanted.until is not None:
        top = min(top, await records.place_of(wanted.until + _SKEW_SECONDS) - 1)
    return floor, top


def _next_step(step: int, took: float) -> int:
    if took < _QUICK_SECONDS:
        return min(step * 2, _MOST_STEP)
    return max(step // 2, _FIRST_STEP) if took > 2 * _QUICK_SECONDS else step


def _is_plain(text: str) -> bool:
    """Return whether a text is printable ASCII, whose case every database can ignore."""
    return text.isascii() and text.isprintable()


def _holds(text: str, part: str) -> bool:
    if not _is_plain(part):
        return part.casefold() in text.casefold()
    # The `lower` of bytes changes only ASCII letters, as the database does.
    return part.encode().lower() in text.encode(errors="surrogatepass").lower()
