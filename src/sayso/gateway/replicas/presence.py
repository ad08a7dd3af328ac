"""The list of a gateway's processes, with one row per process in the store."""

import logging
from dataclasses import dataclass, field
from typing import Final

import anyio

from sayso.errors import KeysError, StoreError
from sayso.keys import VARIABLE, Keyring
from sayso.store import ReplicaRow, Replicas

_LEASE_SECONDS: Final = 15.0
_BEAT_SECONDS: Final = 5.0

_log: Final = logging.getLogger(__name__)


@dataclass(slots=True)
class Presence:
    """The row of this process, renewed while the process runs, and the rows of the others."""

    replicas: Replicas
    here: ReplicaRow
    _others: dict[str, str] = field(default_factory=dict[str, str])

    async def join(self, keys: Keyring) -> None:
        """Put this process on the list.

        Raises `KeysError` if this process and another cannot verify each other's signatures.
        """
        for row in await self._rows():
            _check_keys(row, keys)
        await self._beat()

    async def leave(self) -> None:
        """Take this process off the list; if that fails, its row expires."""
        try:
            await self.replicas.drop(self.here.id)
        except StoreError as error:
            _log.warning("%s", error)

    async def run(self) -> None:
        """Renew the row of this process and read the other rows, until cancelled."""
        while True:
            await anyio.sleep(_BEAT_SECONDS)
            try:
                await self._beat()
                await self.look()
            except StoreError as error:
                _log.warning("the list of replicas cannot be updated: %s", error)

    async def look(self) -> None:
        self._others = {row.id: row.address for row in await self._rows()}

    async def address_of(self, name: str) -> str | None:
        """Return the address of a process; `None` if it is gone."""
        if name not in self._others:
            await self.look()
        return self._others.get(name)

    async def others(self) -> list[str]:
        return list(self._others)

    async def _beat(self) -> None:
        await self.replicas.beat(self.here, seconds=_LEASE_SECONDS)

    async def _rows(self) -> list[ReplicaRow]:
        return [row for row in await self.replicas.all() if row.id != self.here.id]


def _check_keys(other: ReplicaRow, keys: Keyring) -> None:
    theirs = other.keys.split()
    if theirs and theirs[0] in keys.ids and keys.active in theirs:
        return
    fix = (
        f"Give all processes the same {VARIABLE}. To change the active key, first add the new key "
        "as the last one of each process, then move it to the front. A killed process is off the "
        f"list after {_LEASE_SECONDS:.0f} s."
    )
    what = "another process on this store has other keys: they cannot verify each other"
    raise KeysError(what, where=other.address, fix=fix)
