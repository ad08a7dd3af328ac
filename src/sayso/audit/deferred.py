"""Outcomes that could not be written, kept in memory to be written later.

Without them the log would record `outcome_unknown` for calls that were answered.
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import anyio

from sayso.errors import StoreError
from sayso.store import RecordRow, Records, Seal

_MAX_DEFERRED: Final = 4096
"""The maximum number of deferred outcomes; further ones end up recorded as unknown."""
_AGAIN_SECONDS: Final = 1.0

_log: Final = logging.getLogger(__name__)


@dataclass(slots=True, eq=False)
class DeferredOutcomes:
    """Deferred outcomes. Each is written once, and only if its call has no outcome yet.

    A call may already have an outcome: from a commit that seemed to fail, or from another process
    that took over.
    """

    records: Records
    seal: Seal
    _rows: dict[str, RecordRow] = field(default_factory=dict[str, RecordRow])
    _has_rows: anyio.Event = field(default_factory=anyio.Event)

    @property
    def count(self) -> int:
        return len(self._rows)

    def keep(self, row: RecordRow) -> bool:
        """Keep a record to write it as soon as possible; return `False` at the limit."""
        if len(self._rows) >= _MAX_DEFERRED:
            return False
        self._rows[row.call] = row
        self._has_rows.set()
        return True

    async def run(self) -> None:
        while True:
            await self._has_rows.wait()
            await anyio.sleep(_AGAIN_SECONDS)
            try:
                await self.write()
            except StoreError as error:
                _log.info("%d outcomes are waiting to be written: %s", self.count, error)

    async def write(self) -> None:
        """Write all deferred outcomes. If it raises `StoreError`, they stay deferred."""
        if not self._rows:
            return
        rows = dict(self._rows)

        def finish(attempts: Sequence[RecordRow]) -> list[RecordRow]:
            return [rows[attempt.call] for attempt in attempts if attempt.call in rows]

        written = await self.records.finish(self.seal.writer, finish=finish, seal=self.seal)
        for call in rows:
            del self._rows[call]
        if not self._rows:
            self._has_rows = anyio.Event()
        _log.warning("%d of %d deferred outcomes were written", written, len(rows))
