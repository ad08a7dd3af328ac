"""A log with a chain of its own: begun, kept alive, and ended in order."""

import json
import logging
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, Final

import anyio

from sayso.audit.chain import Chain
from sayso.audit.chain_heads import Emit, log_head
from sayso.audit.chain_start import ChainStart
from sayso.audit.deferred import Late
from sayso.audit.liveness import Owner, is_dead
from sayso.audit.log import AuditLog
from sayso.audit.record import Event, Outcome, make_row, severity
from sayso.beside import beside
from sayso.errors import StoreError
from sayso.intent import Level
from sayso.keys import Keyring
from sayso.schema import Path
from sayso.store import Database, Head, RecordRow, Records

LEASE_SECONDS: Final = 30.0
_log: Final = logging.getLogger(__name__)


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
    """A log whose lines are chained under the active key.

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
    dead writer is taken over by one of them. Gives the number of calls that were closed.
    """
    here = Owner.this()
    closed = 0
    for row in await log.records.writers():
        if row.writer != _chain(log).writer and is_dead(row, here):
            closed += await _take_over(log, row.writer)
    return closed


async def _take_over(log: AuditLog, writer: str) -> int:
    def finish(attempts: Sequence[RecordRow]) -> list[RecordRow]:
        return [_unknown(log, one) for one in attempts]

    found = await log.records.take_over(writer, finish=finish, seal=_chain(log))
    return found or 0


def _unknown(log: AuditLog, attempt: RecordRow) -> RecordRow:
    """Return the last line of a call whose result nobody knows."""
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
    """What is still open now has lost whoever would have closed it."""
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
