"""Erasure of a person's data, and removal of old records. The log stays verifiable."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from sayso.audit.chain_start import REFERRING, Unchained, named_heads, to_places
from sayso.audit.log import AuditLog
from sayso.audit.record import Event, make_row
from sayso.audit.verifier import PAGE, Ranges, Verifier, place_of, spans_of
from sayso.errors import StoreError
from sayso.keys import Keyring
from sayso.store import Head, RecordRow


@dataclass(frozen=True, slots=True)
class Erasure:
    """The number of records whose payload was erased, and of questions that are still open."""

    records: int
    still_open: int


async def erase_subject(log: AuditLog, subject: str) -> Erasure:
    """Erase a person's data in the log: subject, arguments and their digests.

    The records stay in their chains, and a new record lists those that were erased. Answered
    questions are deleted; open ones stay. If it raises `StoreError`, nothing was erased.
    """

    def note(erased: Sequence[RecordRow], deleted: int) -> RecordRow:
        body = {"erased": spans_of(map(place_of, erased)), "approvals": deleted}
        return make_row("", log.clock(), Event.ERASED, body)

    erased, still_open = await log.records.erase(
        subject, now=log.clock(), note=note, seal=log.required_chain
    )
    return Erasure(erased, still_open)


async def drop_before(log: AuditLog, keys: Keyring, before: float) -> int:
    """Drop the records older than `before` from the start of each chain; return their number.

    A signed checkpoint records where each chain begins now. The checkpoint also repeats the dropped
    records' references to other records, except references that a later checkpoint has. Raises
    `StoreError` if the log does not verify: dropping records would destroy the evidence.
    """
    prefix = _Prefix(before)
    verifier = Verifier(keys)
    after = 0
    while rows := await log.records.scan(after, PAGE):
        for row in rows:
            verifier.feed(row)
            prefix.feed(row)
        after = rows[-1].seq
    first = verifier.finish().first
    if first is not None:
        fix = "Investigate first: dropping records would destroy the evidence."
        where = log.database and log.database.where
        raise StoreError(f"the log does not verify: {first}", where=where, fix=fix)
    upto = {writer: head.index for writer, head in prefix.ends.items()}
    references = prefix.references
    if prefix.unchained_upto:
        upto[""] = prefix.unchained_upto
    if not upto:
        return 0
    carried = [head for head in references.dropped if verifier.dropped[head.writer] == head]
    body = {
        "before": before,
        "heads": to_places(
            [head for head in references.named if head.index > upto.get(head.writer, 0)]
        ),
        "dropped": to_places([*carried, *prefix.ends.values()]),
        "erased": references.erased.after(upto),
        "unchained": prefix.kept.to_dict(),
    }
    note = make_row("", log.clock(), Event.CHECKPOINT, body)
    return await log.records.prune(upto, before=before, note=note, seal=log.required_chain)


@dataclass(slots=True)
class _References:
    """The references of the dropped records to other records."""

    named: list[Head] = field(default_factory=list[Head])
    dropped: list[Head] = field(default_factory=list[Head])
    erased: Ranges = field(default_factory=Ranges)

    def add(self, row: RecordRow) -> None:
        if row.event not in REFERRING:
            return
        body: dict[str, Any] = json.loads(row.body)
        self.named.extend(named_heads(body))
        self.dropped.extend(named_heads(body, "dropped"))
        self.erased.add(body.get("erased", {}))


class _Prefix:
    """The records at the start of each chain that are older than the time `before`."""

    def __init__(self, before: float) -> None:
        self.before = before
        self.ends: dict[str, Head] = {}
        self.kept = Unchained()
        self.references = _References()
        self.unchained_upto = 0
        self._ended: set[str] = set()

    def feed(self, row: RecordRow) -> None:
        if row.at >= self.before:
            self._ended.add(row.writer)
        is_old = row.writer not in self._ended
        if row.writer:
            if is_old:
                self.ends[row.writer] = Head(row.writer, row.index, row.mac)
                self.references.add(row)
        elif is_old:
            self.unchained_upto = row.seq
        else:
            self.kept.add(row)
