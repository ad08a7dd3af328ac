"""The chain: each record vouches for the one before it, by a key that is not in the store."""

import hmac
import secrets
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from json import dumps
from typing import Final, Self

from avow.errors import KeysError, StoreError
from avow.keys import Keyring
from avow.store import Head, RecordRow

PURPOSE: Final = "audit"
FIRST: Final = "0" * 64
"""What the first record of a chain has for a predecessor."""
_FORM: Final = 1


def link_mac(key: bytes, row: RecordRow) -> str:
    """HMAC-SHA-256 over all of a record but its payload, whose digest stands for it.

    An array of strings and integers, written without spaces, is canonical JSON (RFC 8785).
    """
    parts = [
        _FORM,
        row.writer,
        row.index,
        row.previous,
        row.key,
        row.call,
        repr(row.at),
        row.event,
        row.body,
        row.digest,
    ]
    text = dumps(parts, ensure_ascii=False, separators=(",", ":"))
    return hmac.digest(key, text.encode(), sha256).hex()


def payload_digest(payload: str | None) -> str:
    """SHA-256 of a payload, which holds a salt: once erased, its digest tells nothing."""
    return "" if payload is None else sha256(payload.encode()).hexdigest()


@dataclass(slots=True)
class Chain:
    """One writer's chain. A `Seal` of the store: records get their places as they are written."""

    writer: str
    key_id: str
    _key: bytes = field(repr=False)
    _settled: Head | None = None
    _last: Head | None = None
    is_in_doubt: bool = False
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    @classmethod
    def begin(cls, keys: Keyring) -> Self:
        """A new chain under the active key; its name is random."""
        key = keys.derive(PURPOSE)
        if key is None:
            raise KeysError("the active key is missing")
        return cls(secrets.token_hex(8), keys.active, key)

    @property
    def head(self) -> Head | None:
        """The last record that is on disk."""
        with self._lock:
            return self._settled

    def seal(self, records: Sequence[RecordRow]) -> list[RecordRow]:
        """See `Seal.seal`."""
        return [self._link(one) for one in records]

    def settle(self, *, is_written: bool | None) -> None:
        """See `Seal.settle`."""
        with self._lock:
            if self.is_in_doubt:
                # What was sealed then stays open until `recall` has looked into the store.
                return
            if is_written is None:
                self.is_in_doubt = True
            elif is_written:
                self._settled = self._last
            else:
                self._last = self._settled

    def recall(self, head: Head | None) -> None:
        """See `Seal.recall`."""
        with self._lock:
            if head not in (self._settled, self._last):
                what = "the audit log was changed by somebody else: its chain cannot go on"
                raise StoreError(what, fix="Look at avow audit verify, and start avow again.")
            self._settled = self._last = head
            self.is_in_doubt = False

    def _link(self, one: RecordRow) -> RecordRow:
        last = self._last
        row = replace(
            one,
            writer=self.writer,
            index=last.index + 1 if last else 1,
            previous=last.mac if last else FIRST,
            key=self.key_id,
            digest=payload_digest(one.payload),
        )
        mac = link_mac(self._key, row)
        self._last = Head(self.writer, row.index, mac)
        return replace(row, mac=mac)
