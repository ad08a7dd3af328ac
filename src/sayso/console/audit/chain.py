"""Verification of the log in the background, with the last result."""

import asyncio
import logging
import time
from dataclasses import dataclass
from typing import Final

import anyio.to_thread

from sayso.audit import PAGE, AuditLog, Report, Verifier
from sayso.errors import SaysoError
from sayso.guard import Shutdown
from sayso.keys import Keyring
from sayso.store import RecordRow

_log: Final = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Verdict:
    """The result of a check; `failure` is why it could not be completed."""

    at: float
    seconds: float
    report: Report | None
    failure: str = ""


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of a check, in lines."""

    done: int
    total: int


class Checker:
    """Verifies the log, one check at a time, in short pieces that do not delay calls."""

    def __init__(self, log: AuditLog, keys: Keyring, shutdown: Shutdown) -> None:
        self._log = log
        self._keys = keys
        self._task: asyncio.Task[None] | None = None
        self.verdict: Verdict | None = None
        self.progress: Progress | None = None
        shutdown.on_begin(self.stop)

    def start(self) -> bool:
        """Start a check; return `False` if a check is running already."""
        if self.progress is not None:
            return False
        self.progress = Progress(0, 0)
        self._task = asyncio.create_task(self._check())
        return True

    def stop(self) -> None:
        if self._task is not None:
            self._task.cancel()

    async def wait(self) -> None:
        if self._task is not None:
            await asyncio.wait([self._task])

    async def _check(self) -> None:
        started = time.monotonic()
        report = None
        failure = ""
        try:
            report = await self._read()
        except SaysoError as error:
            failure = str(error)
        except Exception:  # noqa: BLE001 - the page must show every failure
            _log.error("the audit log cannot be verified")
            failure = "The log contains records that sayso cannot read."
        finally:
            self.progress = None
        took = time.monotonic() - started
        self.verdict = Verdict(self._log.clock(), took, report, failure)

    async def _read(self) -> Report:
        verifier = Verifier(self._keys)
        after = 0
        total = await self._log.records.count()
        while rows := await self._log.records.scan(after, PAGE):
            await anyio.to_thread.run_sync(_feed, verifier, rows)
            after = rows[-1].seq
            self.progress = Progress(verifier.records, max(total, verifier.records))
        return verifier.finish()


def _feed(verifier: Verifier, rows: list[RecordRow]) -> None:
    for row in rows:
        verifier.feed(row)
