"""The tool that migrates the database, with progress and cancellation between its steps."""

import asyncio
import concurrent.futures
import logging
import sqlite3
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Final

import anyio
from anyio import from_thread

from sayso.demo.data import Database, schema_version
from sayso.demo.limits import Limits
from sayso.demo.migration import (
    STEPS,
    BrokenReferenceError,
    CancelledMigrationError,
    Progress,
    is_migrated,
    last_run,
    migrate,
    record_run,
)
from sayso.demo.results import MigrationReport, MigrationStatus
from sayso.demo.schema import LATEST_VERSION
from sayso.errors import SaysoError
from sayso.intent import DESTRUCTIVE

if TYPE_CHECKING:
    from sayso.serve import Context, Tools

_log = logging.getLogger(__name__)

_MESSAGES: Final[dict[MigrationStatus, str]] = {
    "planned": "These steps would be run; nothing has been changed.",
    "migrated": f"Migrated to version {LATEST_VERSION}.",
    "already_migrated": f"Already migrated to version {LATEST_VERSION}; there was nothing to do.",
}


@dataclass(frozen=True, slots=True)
class MaintenanceTools:
    """The tool that migrates one database.

    It pauses `pace` seconds after each step, so that a person can watch and cancel it.
    """

    database: Database
    pace: float

    def migrate_database(
        self,
        dry_run: Annotated[  # noqa: FBT002 - a tool's arguments come by name
            bool, Limits("Only say what would be done; nothing changes.")
        ] = False,
    ) -> MigrationReport:
        """Move all notes into a table of their own and drop the column that held them.

        Runs whole or not at all: when it is cancelled midway, everything is as it was before.
        """
        from sayso.serve import context  # noqa: PLC0415 - without the SDK, `run` is called

        return self.run(_Progress(context(), self.pace), dry_run=dry_run)

    def run(self, progress: Progress, *, dry_run: bool) -> MigrationReport:
        """Migrate, unless it is a dry run. `progress` may raise `CancelledMigrationError`."""
        if dry_run:
            return self._plan()
        try:
            return self._run(progress)
        except BrokenReferenceError as error:
            raise SaysoError(f"{error}; rolled back, nothing has changed.") from error

    def _plan(self) -> MigrationReport:
        with self.database.reading() as connection:
            status = "already_migrated" if is_migrated(connection) else "planned"
            return _report(status, schema_version(connection), last_run(connection), dry_run=True)

    def _run(self, progress: Progress) -> MigrationReport:
        with self.database.writing() as connection:
            version = schema_version(connection)
            before = last_run(connection)
            if is_migrated(connection):
                return _report("already_migrated", version, before)
            cancelled = _migrate_unless_cancelled(connection, progress)
        if cancelled is None:
            return _report("migrated", version, before)
        _log.warning("migrate_database: %s", cancelled)
        raise SaysoError(f"{cancelled} Nothing has changed.")


@dataclass(slots=True)
class _Progress:
    """A progress callback for a worker thread.

    Raises `CancelledMigrationError` if the caller has cancelled.
    """

    call: "Context"
    pace: float

    def __call__(self, count: int, what: str) -> None:
        try:
            from_thread.run(self._tell, count, what)
            self.call.check_cancelled()
        except (asyncio.CancelledError, concurrent.futures.CancelledError) as error:
            # The call stays cancelled; the thread must roll back first.
            raise CancelledMigrationError from error

    async def _tell(self, count: int, what: str) -> None:
        await self.call.progress(count, len(STEPS), f"Done: {what}.")
        await anyio.sleep(self.pace)


def declare_maintenance(tools: "Tools", database: Database, *, pace: float) -> None:
    """Declare the one tool that migrates."""
    own = MaintenanceTools(database, pace)
    tools.tool(
        DESTRUCTIVE,
        dry_run=True,
        title="Migrate database",
        category="maintenance",
        tags={"dry-run", "progress"},
        scopes={"customers.write"},
    )(own.migrate_database)


def _migrate_unless_cancelled(connection: sqlite3.Connection, progress: Progress) -> str | None:
    """Migrate; after a cancellation, roll back, record it and return a message."""
    done = 0

    def count_step(count: int, what: str) -> None:
        nonlocal done
        done = count
        progress(count, what)

    connection.execute("SAVEPOINT migration")
    try:
        migrate(connection, count_step)
    except CancelledMigrationError:
        connection.execute("ROLLBACK TO migration")
        message = f"Cancelled after step {done} of {len(STEPS)}; rolled back."
        record_run(connection, "cancelled", message)
        return message
    return None


def _report(
    status: MigrationStatus, version: int, last: str | None, *, dry_run: bool = False
) -> MigrationReport:
    report: MigrationReport = {
        "status": status,
        "dryRun": dry_run,
        "fromVersion": version,
        "toVersion": LATEST_VERSION,
        "steps": [] if status == "already_migrated" else [step.what for step in STEPS],
        "message": _MESSAGES[status],
    }
    return report if last is None else {**report, "lastRun": last}
