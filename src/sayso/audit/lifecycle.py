"""The lifecycle of a process's audit log: open a chain, send heartbeats, take over, close."""

import json
import logging
import os
import re
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from pathlib import Path as FilePath
from typing import Any, Final, Self

import anyio

from sayso.audit.chain import Chain
from sayso.audit.chain_heads import Emit, log_head
from sayso.audit.chain_start import ChainStart
from sayso.audit.deferred import DeferredOutcomes
from sayso.audit.log import AuditLog
from sayso.audit.record import Event, Outcome, make_row, severity
from sayso.beside import beside
from sayso.errors import StoreError
from sayso.intent import Level
from sayso.keys import Keyring
from sayso.schema import Path
from sayso.store import Database, Head, RecordRow, Records, WriterRow

LEASE_SECONDS: Final = 30.0
PROC = FilePath("/proc")
_PID: Final = re.compile(r"[0-9]{1,9}")
_ENDED: Final = ("Z", "X")
_log: Final = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Owner:
    """A process: its machine and boot (empty outside Linux), its pid and its start time."""

    machine: str
    pid: int
    began: str

    @classmethod
    def this(cls) -> Self:
        pid = os.getpid()
        began = _began(pid)
        return cls(_machine() if began else "", pid, began)

    @classmethod
    def read(cls, text: str) -> Self:
        machine, _, rest = text.partition(":")
        pid, _, began = rest.partition(":")
        return cls(machine, int(pid) if _PID.fullmatch(pid) else 0, began)

    def __str__(self) -> str:
        return f"{self.machine}:{self.pid}:{self.began}"

    def is_gone(self, here: Self) -> bool | None:
        """Return whether the process has ended, or `None` if it is not on the machine `here`."""
        if not here.machine or self.machine != here.machine:
            return None
        return _began(self.pid) != self.began


def is_dead(row: WriterRow, here: Owner) -> bool:
    """Return whether a writer's process has ended; on another machine, if its lease expired."""
    is_gone = Owner.read(row.owner).is_gone(here)
    return row.is_expired if is_gone is None else is_gone


def _machine() -> str:
    """Return an id that differs between boots and containers; empty outside Linux."""
    try:
        boot = (PROC / "sys/kernel/random/boot_id").read_text()
        return sha256((boot + str((PROC / "self/ns/pid").readlink())).encode()).hexdigest()[:16]
    except OSError:
        return ""


def _began(pid: int) -> str:
    """Return a process's start time in clock ticks since the boot (proc(5), field 22).

    The result is empty for a process that has ended, including a zombie.
    """
    try:
        state, *rest = (PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()
        began = rest[18]
    except (OSError, ValueError, IndexError):
        return ""
    return "" if state in _ENDED else began


@asynccontextmanager
async def open_audit(
    store: Database,
    keys: Keyring,
    *,
    emit: Emit = log_head,
    hidden: Sequence[Path] = (),
    clock: Callable[[], float] | None = None,
    lease: float = LEASE_SECONDS,
) -> AsyncGenerator[AuditLog]:
    """Open a log whose records are chained under the active key. Raises `StoreError`.

    The chain begins with the first record, so a process that records nothing has no chain. Now and
    periodically, calls of dead writers are closed and the chain's head is passed to `emit`. A
    writer on this machine is dead when its process has ended. A writer on another machine is dead
    `lease` seconds after its last heartbeat. `clock` defaults to the store's.
    """
    chain = await _new_chain(store.records, keys, clock or store.clock)
    deferred = DeferredOutcomes(store.records, chain)
    log = AuditLog(store.records, clock or store.clock, chain, hidden, deferred, keys, store)
    here = Owner.this()
    await store.records.beat(chain.writer, str(here), seconds=lease)
    await close_unfinished(log)
    try:
        async with beside(partial(_keep, log, chain, here, lease, emit), deferred.run):
            yield log
    finally:
        with anyio.CancelScope(shield=True):
            await _end(log, chain, emit)


async def _new_chain(records: Records, keys: Keyring, clock: Callable[[], float]) -> Chain:
    chain = Chain.begin(keys)
    chain.start = ChainStart(keys, await records.heads(), clock).record
    # If the log has unchained records only, this writes a chain's first record to protect them.
    await records.append([], seal=chain)
    return chain


async def close_unfinished(log: AuditLog) -> int:
    """Record `outcome_unknown` for every open call of a dead writer; return their number.

    Safe to run in many processes at once: only one of them takes over each dead writer.
    """
    here = Owner.this()
    closed = 0
    for row in await log.records.writers():
        if row.writer != log.required_chain.writer and is_dead(row, here):
            closed += await _take_over(log, row.writer)
    return closed


async def _take_over(log: AuditLog, writer: str) -> int:
    def finish(attempts: Sequence[RecordRow]) -> list[RecordRow]:
        return [_unknown(log, attempt) for attempt in attempts]

    return await log.records.take_over(writer, finish=finish, seal=log.required_chain) or 0


def _unknown(log: AuditLog, attempt: RecordRow) -> RecordRow:
    try:
        body: dict[str, Any] = dict(json.loads(attempt.body))
        payload = None if attempt.payload is None else dict(json.loads(attempt.payload))
        level = Level(body.get("level", "destructive"))
    except (ValueError, TypeError):
        # Another program wrote or changed this record; `verify` reports that.
        body = {}
        payload = None
        level = Level.DESTRUCTIVE
    body["outcome"] = str(Outcome.OUTCOME_UNKNOWN)
    body["severity"] = severity(level, Outcome.OUTCOME_UNKNOWN)
    body["closed_for"] = attempt.writer
    return make_row(attempt.call, log.clock(), Event.OUTCOME, body, payload)


async def _keep(log: AuditLog, chain: Chain, here: Owner, lease: float, emit: Emit) -> None:
    emitted: Head | None = None
    patient_until = 0.0
    while True:
        if chain.head is not None and chain.head != emitted:
            emitted = chain.head
            emit(emitted)
        await anyio.sleep(lease / 3)
        try:
            await log.records.beat(chain.writer, str(here), seconds=lease)
            if anyio.current_time() >= patient_until:
                await close_unfinished(log)
        except StoreError as error:
            # Other writers' heartbeats failed too. Wait for these before closing any calls.
            patient_until = anyio.current_time() + lease
            _log.warning("the audit log's heartbeat failed: %s", error)
        except Exception:  # noqa: BLE001 - another program's rows must not end the process
            _log.exception("the audit log's heartbeat failed")


async def _end(log: AuditLog, chain: Chain, emit: Emit) -> None:
    try:
        if log.deferred is not None:
            await log.deferred.write()
        await _take_over(log, chain.writer)
    except StoreError as error:
        _log.warning("the audit log could not be closed properly: %s", error)
    if chain.head is not None:
        emit(chain.head)
