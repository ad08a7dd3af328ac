"""Verification that every record is present, unchanged and in its place."""

import hmac
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any, Final

from sayso.audit.chain import FIRST, PURPOSE, link_mac, payload_digest
from sayso.audit.chain_start import REFERRING, Unchained, named_heads
from sayso.keys import Keyring
from sayso.store import LOWEST_SEQ, Head, RecordRow, Records

PAGE: Final = 1000
FIRST_SEQ: Final = 1
"""The number of a database's first record."""
_LAST: Final = float("inf")
_NO_HEAD: Final = Head("", 0, "")


@dataclass(slots=True)
class Ranges:
    """Ranges of indexes by writer. The writer `""` has the numbers of records in no chain."""

    spans: dict[str, list[tuple[int, int]]] = field(
        default_factory=dict[str, list[tuple[int, int]]]
    )

    def add(self, spans: Mapping[str, Sequence[Sequence[int]]]) -> None:
        for writer, ranges in spans.items():
            self.spans.setdefault(writer, []).extend((first, last) for first, last in ranges)

    def holds(self, writer: str, index: int) -> bool:
        return any(first <= index <= last for first, last in self.spans.get(writer, ()))

    def after(self, upto: Mapping[str, int]) -> dict[str, list[tuple[int, int]]]:
        """Return the ranges that end after the writer's index in `upto`."""
        kept = {
            writer: [span for span in spans if span[1] > upto.get(writer, 0)]
            for writer, spans in self.spans.items()
        }
        return {writer: spans for writer, spans in kept.items() if spans}


def place_of(row: RecordRow) -> tuple[str, int]:
    """Return a record's writer and index. In no chain: the writer `""` and the record's number."""
    return row.writer, row.index if row.writer else row.seq


def spans_of(places: Iterable[tuple[str, int]]) -> dict[str, list[tuple[int, int]]]:
    """Return places as the fewest possible ranges."""
    spans: dict[str, list[tuple[int, int]]] = {}
    for writer, index in sorted(places):
        ranges = spans.setdefault(writer, [])
        if ranges and ranges[-1][1] == index - 1:
            ranges[-1] = (ranges[-1][0], index)
        else:
            ranges.append((index, index))
    return spans


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem with one record. `seq` is `None` if the record is missing."""

    what: str
    seq: int | None
    writer: str
    index: int
    call: str = ""

    def __str__(self) -> str:
        place = "in no chain"
        if self.writer:
            place = f"record {self.index} of chain {self.writer}"
        if self.seq is not None:
            place = f"record {self.seq} ({place})"
        return f"{place}: {self.what}"


@dataclass(frozen=True, slots=True)
class Report:
    """The result of a verification. `heads` are the chain heads, to be kept outside the store."""

    records: int
    unchained: int
    erased: int
    heads: list[Head]
    problems: list[Problem]

    @property
    def first(self) -> Problem | None:
        return next(iter(self.problems), None)


@dataclass(slots=True)
class Verifier:
    """Takes all records in the order of their numbers, then reports the problems."""

    keys: Keyring
    known: Mapping[str, Head] = field(default_factory=dict[str, Head])
    records: int = 0
    problems: list[Problem] = field(default_factory=list[Problem])
    last: dict[str, Head] = field(default_factory=dict[str, Head])
    dropped: dict[str, Head] = field(default_factory=dict[str, Head])
    erased: Ranges = field(default_factory=Ranges)
    unchained: Unchained = field(default_factory=Unchained)
    _starts: list[RecordRow] = field(default_factory=list[RecordRow])
    _without_payload: list[RecordRow] = field(default_factory=list[RecordRow])
    _named: list[tuple[int, Head]] = field(default_factory=list[tuple[int, Head]])
    _checkpoints: set[Head] = field(default_factory=set[Head])
    _derived: dict[str, bytes | None] = field(default_factory=dict[str, bytes | None])

    def feed(self, row: RecordRow) -> None:
        self.records += 1
        if row.seq < FIRST_SEQ:
            self._bad(row, f"its number is below {FIRST_SEQ}: it was not written by sayso")
        self._check_payload(row)
        if row.writer:
            self._follow(row)
            if self._is_genuine(row):
                self._read_references(row)
        else:
            self.unchained.add(row)

    def finish(self) -> Report:
        for row in self._starts:
            if Head(row.writer, row.index - 1, row.previous) not in self._checkpoints:
                self._bad(row, f"{_span(1, row.index - 1)} before it in its chain missing")
        for row in self._without_payload:
            if not self.erased.holds(*place_of(row)):
                self._bad(row, "its payload was removed, and no erasure is on record")
        for seq, head in self._named:
            self._check_named(head, seq)
        for head in self.known.values():
            self._check_named(head, None)
        if (problem := self.unchained.problem()) is not None:
            self._bad(*problem)
        self.problems.sort(key=_order)
        return Report(
            self.records,
            self.unchained.count,
            len(self._without_payload),
            sorted(self.last.values(), key=attrgetter("writer")),
            self.problems,
        )

    def _check_payload(self, row: RecordRow) -> None:
        subject = None
        if row.payload is None:
            if row.digest:
                self._without_payload.append(row)
        elif payload_digest(row.payload) != row.digest and (row.digest or row.writer):
            self._bad(row, "its payload was changed")
            return
        else:
            try:
                subject = dict(json.loads(row.payload)).get("subject")
            except (ValueError, TypeError):
                self._bad(row, "its payload is not a JSON object")
                return
        if subject != row.subject:
            self._bad(row, "its subject was changed")

    def _follow(self, row: RecordRow) -> None:
        last = self.last.get(row.writer)
        if last is None:
            if (row.index, row.previous) != (1, FIRST):
                self._starts.append(row)
        elif row.index <= last.index:
            self._bad(row, f"it follows record {last.index}: the order was changed")
            return
        elif row.index > last.index + 1:
            self._bad(row, f"{_span(last.index + 1, row.index - 1)} before it in its chain missing")
        elif row.previous != last.mac:
            self._bad(row, "it does not follow the record before it in its chain")
        self.last[row.writer] = Head(row.writer, row.index, row.mac)
        known = self.known.get(row.writer)
        if known is not None and known.index == row.index and known.mac != row.mac:
            self._bad(row, "it is not the record whose head was kept elsewhere")

    def _is_genuine(self, row: RecordRow) -> bool:
        if row.key not in self._derived:
            self._derived[row.key] = self.keys.derive(PURPOSE, row.key)
        key = self._derived[row.key]
        if key is None:
            self._bad(row, f"it was signed with the key {row.key!r}, which is missing")
            return False
        if not hmac.compare_digest(link_mac(key, row).encode(), row.mac.encode()):
            self._bad(row, "it was changed, or not written by sayso: its MAC does not match")
            return False
        return True

    def _read_references(self, row: RecordRow) -> None:
        if row.event not in REFERRING:
            return
        body: dict[str, Any] = json.loads(row.body)
        for head in named_heads(body):
            self._name(row, head)
        for head in named_heads(body, "dropped"):
            self._checkpoints.add(head)
            if head.index > self.dropped.get(head.writer, _NO_HEAD).index:
                self.dropped[head.writer] = head
        self.erased.add(body.get("erased", {}))
        if "unchained" in body:
            self.unchained.anchor(body["unchained"])

    def _name(self, row: RecordRow, head: Head) -> None:
        """Check a head that a record names: the head must be older than the record."""
        last = self.last.get(head.writer)
        if last is None or last.index < head.index:
            self._named.append((row.seq, head))
        elif last.index == head.index and last.mac != head.mac:
            self._bad(row, f"the chain {head.writer} had another end when this was written")

    def _check_named(self, head: Head, seq: int | None) -> None:
        end = self.last.get(head.writer, _NO_HEAD).index
        if max(end, self.dropped.get(head.writer, _NO_HEAD).index) >= head.index:
            return
        known = "a head that was kept elsewhere" if seq is None else f"record {seq}"
        what = f"missing: {known} shows that the chain went on to record {head.index}"
        self.problems.append(Problem(what, None, head.writer, end + 1))

    def _bad(self, row: RecordRow, what: str) -> None:
        self.problems.append(Problem(what, row.seq, row.writer, row.index, row.call))


async def verify(
    records: Records,
    keys: Keyring,
    *,
    known: Mapping[str, Head] | None = None,
    progress: Callable[[int], None] = lambda _: None,
) -> Report:
    """Read the whole log once and report its problems.

    `known` are heads that were kept elsewhere, by writer. Without them, removed records at a
    chain's end are detected only if a later chain names them. `progress` gets the count so far.
    """
    return (await read_all(records, Verifier(keys, known or {}), progress)).finish()


async def read_all(
    records: Records, verifier: Verifier, progress: Callable[[int], None] = lambda _: None
) -> Verifier:
    """Feed all records of a store to a verifier."""
    after = LOWEST_SEQ
    while rows := await records.scan(after, PAGE):
        for row in rows:
            verifier.feed(row)
        after = rows[-1].seq
        progress(verifier.records)
    return verifier


def _order(problem: Problem) -> tuple[float, int]:
    return _LAST if problem.seq is None else problem.seq, problem.index


def _span(first: int, last: int) -> str:
    if first == last:
        return f"record {first} is"
    return f"records {first} to {last} are"
