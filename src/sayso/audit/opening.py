"""The audit log of one process: opened with a chain of its own, kept alive, and closed."""

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
from sayso.audit.deferred import Late
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
    """A process: the machine it is on since its last start, its number there, when it began.

    Outside Linux `machine` is empty.
    """

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
        """Read what `str` made."""
        machine, _, rest = text.partition(":")
        pid, _, began = rest.partition(":")
        return cls(machine, int(pid) if _PID.fullmatch(pid) else 0, began)

    def __str__(self) -> str:
        return f"{self.machine}:{self.pid}:{self.began}"

    def is_gone(self, here: Self) -> bool | None:
        """Return whether the process has ended; `None` where that cannot be seen from `here`."""
        if not here.machine or self.machine != here.machine:
            return None
        return _began(self.pid) != self.began


def is_dead(row: WriterRow, here: Owner) -> bool:
    """A writer is dead when its process has ended, or, where nobody sees that, by its lease."""
    is_gone = Owner.read(row.owner).is_gone(here)
    return row.is_expired if is_gone is None else is_gone


def _machine() -> str:
    """Return a name that changes with each start of the machine, and between containers."""
    try:
        boot = (PROC / "sys/kernel/random/boot_id").read_text()
        return sha256((boot + str((PROC / "self/ns/pid").readlink())).encode()).hexdigest()[:16]
    except OSError:
        return ""


def _began(pid: int) -> str:
    """Return when a process began, in clock ticks since the machine did (proc(5), field 22).

    Empty for one that has ended, also while its parent has not asked about it yet.
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
    """Open a log whose lines are chained under the active key.

    The chain begins with the first line that is written: a process that writes none leaves no
    trace in the log. Closes what dead writers left unfinished, now and from time to time, and tells
    the chain's head to `emit` as often. `lease` is how many seconds after its last sign of life a
    writer on another machine is taken for dead; on this machine its process is looked for instead.
    `clock` is the store's where none is given.

    Raises `StoreError` when the log cannot be begun.
    """
    chain = await _new_chain(store.records, keys, clock or store.clock)
    late = Late(store.records, chain)
    log = AuditLog(store.records, clock or store.clock, chain, hidden, late, keys, store)
    here = Owner.this()
    await store.records.beat(chain.writer, str(here), seconds=lease)
    await close_unfinished(log)
    try:
        async with beside(partial(_keep, log, chain, here, lease, emit), late.run):
            yield log
    finally:
        with anyio.CancelScope(shield=True):
            await _end(log, chain, emit)


async def _new_chain(records: Records, keys: Keyring, clock: Callable[[], float]) -> Chain:
    chain = Chain.begin(keys)
    chain.start = ChainStart(keys, await records.heads(), clock).record
    # Records from before there were chains get one now: until then nothing protects them.
    await records.append([], seal=chain)
    return chain


async def close_unfinished(log: AuditLog) -> int:
    """Record `outcome_unknown` for every attempt without an outcome whose writer is dead.

    Calls of writers that are alive are not touched. Safe to run in many processes at once: each
    dead writer is taken over by one of them. Returns the number of calls that were closed.
    """
    here = Owner.this()
    closed = 0
    for row in await log.records.writers():
        if row.writer != _chain(log).writer and is_dead(row, here):
            closed += await _take_over(log, row.writer)
    return closed


async def _take_over(log: AuditLog, writer: str) -> int:
    def finish(attempts: Sequence[RecordRow]) -> list[RecordRow]:
        return [_unknown(log, attempt) for attempt in attempts]

    return await log.records.take_over(writer, finish=finish, seal=_chain(log)) or 0


def _unknown(log: AuditLog, attempt: RecordRow) -> RecordRow:
    try:
        body: dict[str, Any] = dict(json.loads(attempt.body))
        payload = None if attempt.payload is None else dict(json.loads(attempt.payload))
        level = Level(body.get("level", "destructive"))
    except (ValueError, TypeError):
        # Somebody else wrote this line, or changed it: `verify` says so.
        body = {}
        payload = None
        level = Level.DESTRUCTIVE
    body["outcome"] = str(Outcome.OUTCOME_UNKNOWN)
    body["severity"] = severity(level, Outcome.OUTCOME_UNKNOWN)
    body["closed_for"] = attempt.writer
    return make_row(attempt.call, log.clock(), Event.OUTCOME, body, payload)


async def _keep(log: AuditLog, chain: Chain, here: Owner, lease: float, emit: Emit) -> None:
    told: Head | None = None
    patient_until = 0.0
    while True:
        if chain.head is not None and chain.head != told:
            told = chain.head
            emit(told)
        await anyio.sleep(lease / 3)
        try:
            await log.records.beat(chain.writer, str(here), seconds=lease)
            if anyio.current_time() >= patient_until:
                await close_unfinished(log)
        except StoreError as error:
            # The others could not show that they live either: they get time for it afterwards.
            patient_until = anyio.current_time() + lease
            _log.warning("the audit log cannot be kept alive: %s", error)
        except Exception:  # noqa: BLE001 - rows that others wrote must not end the process
            _log.exception("the audit log cannot be kept alive")


async def _end(log: AuditLog, chain: Chain, emit: Emit) -> None:
    try:
        if log.late is not None:
            await log.late.write()
        await _take_over(log, chain.writer)
    except StoreError as error:
        _log.warning("the audit log cannot be closed in order: %s", error)
    if chain.head is not None:
        emit(chain.head)


def _chain(log: AuditLog) -> Chain:
    if log.chain is None:
        raise StoreError("this log has no chain")
    return log.chain
