"""Ends of calls that could not be written when they came, kept until they can be.

The caller had its answer by then. Without this the record would say `outcome_unknown` of a call
whose end was known.
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import anyio

from sayso.errors import StoreError
from sayso.store import RecordRow, Records, Seal

_MOST: Final = 4096
"""How many are kept; of those beyond it the record says that nobody knows."""
_AGAIN_SECONDS: Final = 1.0

_log: Final = logging.getLogger(__name__)


@dataclass(slots=True, eq=False)
class Late:
    """Lines that are late. Each is written once, and only where its call has no end yet.

    So it does not matter whether a commit that broke off had gone through, nor whether another
    process took this one for dead and has closed its calls.
    """

    records: Records
    seal: Seal
    _rows: dict[str, RecordRow] = field(default_factory=dict[str, RecordRow])
    _some: anyio.Event = field(default_factory=anyio.Event)

    @property
    def count(self) -> int:
        return len(self._rows)

    def keep(self, row: RecordRow) -> bool:
        """Write this line as soon as possible; return whether there is room for it."""
        if len(self._rows) >= _MOST:
            return False
        self._rows[row.call] = row
        self._some.set()
        return True

    async def run(self) -> None:
        while True:
            await self._some.wait()
            await anyio.sleep(_AGAIN_SECONDS)
            try:
                await self.write()
            except StoreError as error:
                _log.info("%d outcomes wait to be written: %s", self.count, error)

    async def write(self) -> None:
        """Write all that wait. Raises `StoreError`, and then they wait on."""
        if not self._rows:
            return
        rows = dict(self._rows)

        def finish(attempts: Sequence[RecordRow]) -> list[RecordRow]:
            return [rows[attempt.call] for attempt in attempts if attempt.call in rows]

        written = await self.records.finish(self.seal.writer, finish=finish, seal=self.seal)
        for call in rows:
            del self._rows[call]
        if not self._rows:
            self._some = anyio.Event()
        _log.warning("%d outcomes were written late, of %d", written, len(rows))
