"""The hash chain of records, keyed by a key that is not in the store (HMAC)."""

import hmac
import secrets
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Final, Self

import msgspec

from sayso.errors import KeysError, StoreError
from sayso.keys import Keyring
from sayso.store import Head, LogView, RecordRow

PURPOSE: Final = "audit"
FIRST: Final = "0" * 64
"""The field `previous` of a chain's first record, which follows no record."""
_FORM: Final = 1
_ENCODER: Final = msgspec.json.Encoder()


def to_array(parts: list[str | int]) -> bytes:
    """Return strings and integers as an array in canonical JSON (RFC 8785).

    Raises `UnicodeEncodeError` if a string contains a lone surrogate.
    """
    return _ENCODER.encode(parts)


def link_mac(key: bytes, row: RecordRow) -> str:
    """Return a record's HMAC-SHA-256. It covers the payload through the payload's digest."""
    place = (row.writer, row.index, row.previous, row.key)
    return hmac.digest(key, _signed(row, place, row.digest), "sha256").hex()


def payload_digest(payload: str | None) -> str:
    """Return a payload's SHA-256. The payload contains a salt, so its digest cannot be guessed."""
    return "" if payload is None else sha256(payload.encode()).hexdigest()


def _signed(row: RecordRow, place: tuple[str, int, str, str], digest: str) -> bytes:
    return to_array([_FORM, *place, row.call, repr(row.at), row.event, row.body, digest])


@dataclass(slots=True, eq=False)
class Chain:
    """One writer's chain. The store calls it (as a `Seal`) to give new records their place."""

    writer: str
    key_id: str
    _mac: hmac.HMAC = field(repr=False)
    """Initialized with the key, and copied for each record."""
    _settled: Head | None = None
    _last: Head | None = None
    is_in_doubt: bool = False
    start: Callable[[LogView], RecordRow] | None = None
    """Returns the chain's first record; called just before the second one is written."""
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    @classmethod
    def begin(cls, keys: Keyring) -> Self:
        key = keys.derive(PURPOSE)
        if key is None:
            raise KeysError("the active key is missing")
        return cls(secrets.token_hex(8), keys.active, hmac.new(key, digestmod=sha256))

    @property
    def head(self) -> Head | None:
        with self._lock:
            return self._settled

    @property
    def is_new(self) -> bool:
        return self._last is None and self.start is not None

    def first(self, log: LogView) -> list[RecordRow]:
        return [] if self.start is None else [self.start(log)]

    def seal(self, records: Sequence[RecordRow]) -> list[RecordRow]:
        writer = self.writer
        key = self.key_id
        last = self._last or Head(writer, 0, FIRST)
        index = last.index
        mac = last.mac
        sealed: list[RecordRow] = []
        for record in records:
            index += 1
            previous = mac
            digest = payload_digest(record.payload)
            signature = self._mac.copy()
            signature.update(_signed(record, (writer, index, previous, key), digest))
            mac = signature.hexdigest()
            # Built by position, because `dataclasses.replace` takes longer than the hashing.
            sealed.append(
                RecordRow(
                    record.call,
                    record.at,
                    record.event,
                    record.body,
                    record.seq,
                    record.payload,
                    record.subject,
                    writer,
                    index,
                    previous,
                    key,
                    digest,
                    mac,
                )
            )
        if sealed:
            self._last = Head(writer, index, mac)
        return sealed

    def settle(self, *, is_written: bool | None) -> None:
        with self._lock:
            if self.is_in_doubt:
                # `recall` will read from the store whether the last records were written.
                return
            if is_written is None:
                self.is_in_doubt = True
            elif is_written:
                self._settled = self._last
            else:
                self._last = self._settled

    def recall(self, head: Head | None) -> None:
        with self._lock:
            if head not in (self._settled, self._last):
                what = "the audit log was changed by another program, so its chain cannot continue"
                raise StoreError(what, fix="Run sayso audit verify, and restart sayso.")
            self._settled = self._last = head
            self.is_in_doubt = False
