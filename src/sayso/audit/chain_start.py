"""The first record of a chain, written in the transaction of the first record that needs it.

The record names the ends of earlier chains, so that removing their last records is detected. It
leaves out ends that another record names, so the log grows linearly with the number of chains.
"""

import hmac
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, Final

from sayso.audit.chain import PURPOSE, link_mac
from sayso.audit.record import Event, make_row
from sayso.keys import Keyring
from sayso.store import Head, LogView, RecordRow

NAMING: Final = (Event.OPENED, Event.CHECKPOINT)
"""Events whose records name the ends of other chains."""
REFERRING: Final = (*NAMING, Event.ERASED)
"""Events whose records refer to other records."""


@dataclass(slots=True)
class Unchained:
    """The records in no chain, in the order of their numbers: their count and digest.

    The first record of the first chain holds both values.
    """

    count: int = 0
    _hash: Any = field(default_factory=sha256)
    _first: RecordRow | None = None
    _stray: RecordRow | None = None
    _is_anchored: bool = False
    _is_as_found: bool = True

    def add(self, row: RecordRow) -> None:
        self.count += 1
        self._first = self._first or row
        self._stray = self._stray or row
        parts = [row.seq, row.call, repr(row.at), row.event, row.body, row.digest]
        self._hash.update(json.dumps(parts, ensure_ascii=False).encode())

    def to_dict(self) -> dict[str, Any]:
        return {"count": self.count, "digest": self._hash.hexdigest()}

    def anchor(self, recorded: Any) -> None:
        """Compare with the count and digest in a genuine record; the last such record counts."""
        self._is_anchored = True
        self._is_as_found = recorded == self.to_dict()
        self._stray = None

    def problem(self) -> tuple[RecordRow, str] | None:
        if self._stray is not None:
            if self._is_anchored:
                return self._stray, "it was inserted outside the chains"
            return self._stray, "it is not in a chain"
        if not self._is_as_found and self._first is not None:
            what = f"one of the {self.count} records from before the chains was changed"
            return self._first, what
        return None


@dataclass(frozen=True, slots=True)
class ChainStart:
    """Makes the first record of a chain.

    `seen` are the ends of the chains when this process started. If an end is missing later, the
    record names it too, so that records removed before the first call are detected.
    """

    keys: Keyring
    seen: Sequence[Head]
    clock: Callable[[], float]

    def record(self, log: LogView) -> RecordRow:
        """Return the record; `log` is a view in the transaction that will write it."""
        ends = log.ends()
        # Missing ends come last: if a chain has two ends here, the body keeps the last one.
        named = [*self._unnamed(log, ends), *self._missing(ends)]
        body: dict[str, Any] = {"heads": to_places(named)}
        if not ends:
            # The first chain covers the records from before there were chains.
            unchained = Unchained()
            for row in log.rows():
                unchained.add(row)
            body["unchained"] = unchained.to_dict()
        return make_row("", self.clock(), Event.OPENED, body)

    def _missing(self, ends: Sequence[tuple[int, Head]]) -> list[Head]:
        reached = {head.writer: head for _, head in ends}
        return [head for head in self.seen if not _is_reached(head, reached.get(head.writer))]

    def _unnamed(self, log: LogView, ends: Sequence[tuple[int, Head]]) -> list[Head]:
        """Return the ends that no genuine record names.

        The search goes from the newest record back. A record names only ends that are older than
        itself, so the search stops at the first record older than every unnamed end.
        """
        oldest_first = sorted(ends, key=lambda end: end[0])
        unnamed = {head for _, head in oldest_first}
        position = 0
        for row in log.about_itself(NAMING):
            while position < len(oldest_first) and oldest_first[position][1] not in unnamed:
                position += 1
            if position == len(oldest_first) or oldest_first[position][0] > row.seq:
                break
            if self._is_genuine(row):
                unnamed.difference_update(named_heads(json.loads(row.body)))
        return [head for _, head in oldest_first if head in unnamed]

    def _is_genuine(self, row: RecordRow) -> bool:
        key = self.keys.derive(PURPOSE, row.key)
        return key is not None and hmac.compare_digest(
            link_mac(key, row).encode(), row.mac.encode()
        )


def to_places(heads: Sequence[Head]) -> dict[str, list[int | str]]:
    """Return heads in the form of a record's body: index and MAC by writer."""
    return {head.writer: [head.index, head.mac] for head in heads}


def named_heads(body: dict[str, Any], member: str = "heads") -> list[Head]:
    """Return the heads in one member of a record's body."""
    return [Head(writer, index, mac) for writer, (index, mac) in body.get(member, {}).items()]


def _is_reached(head: Head, end: Head | None) -> bool:
    if end is None or end.index < head.index:
        return False
    return end.index > head.index or end.mac == head.mac
