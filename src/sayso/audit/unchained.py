"""Records from before there was a chain: the first chain vouches for them as it found them."""

from dataclasses import dataclass, field
from hashlib import sha256
from json import dumps
from typing import Any, Protocol

from sayso.store import RecordRow


class _Hash(Protocol):
    def update(self, data: bytes, /) -> None: ...
    def hexdigest(self) -> str: ...


@dataclass(slots=True)
class Unchained:
    """Counts and digests records in no chain, in the order of their numbers."""

    count: int = 0
    _hash: _Hash = field(default_factory=sha256)
    _first: RecordRow | None = None
    _stray: RecordRow | None = None
    _is_anchored: bool = False
    _is_as_found: bool = True

    def add(self, row: RecordRow) -> None:
        """Take in one record."""
        self.count += 1
        self._first = self._first or row
        self._stray = self._stray or row
        parts = [row.seq, row.call, repr(row.at), row.event, row.body, row.digest]
        self._hash.update(dumps(parts, ensure_ascii=False).encode())

    def to_dict(self) -> dict[str, Any]:
        """What a chain says of them."""
        return {"count": self.count, "digest": self._hash.hexdigest()}

    def anchor(self, told: Any) -> None:
        """Hear what a genuine record says of all that came before it; the last one counts."""
        self._is_anchored = True
        self._is_as_found = told == self.to_dict()
        self._stray = None

    def problem(self) -> tuple[RecordRow, str] | None:
        """The record at which something is wrong, and what."""
        if self._stray is not None:
            what = "it was put in past the chains" if self._is_anchored else "it is not chained"
            return self._stray, what
        if not self._is_as_found and self._first is not None:
            what = f"one of the {self.count} records from before the chains was changed"
            return self._first, what
        return None
