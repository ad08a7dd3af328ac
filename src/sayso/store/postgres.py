"""The PostgreSQL driver, for stores that several machines share. Needs the extra `postgres`."""

import asyncio
import contextlib
import logging
import re
from collections.abc import AsyncGenerator, Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, Final, LiteralString, cast

import psycopg
from psycopg import conninfo, errors

from sayso.errors import StoreError, UsageError
from sayso.store.copying import copy_rows, new_copy
from sayso.store.migrations import POSTGRES_TYPES, VERSION, check_version, upgrade
from sayso.store.rows import storable
from sayso.store.session import Row, Session
from sayso.store.statement_watchdog import PATIENCE_SECONDS, StatementWatchdog

_NUMBER: Final = re.compile(r"[1-9][0-9]{0,17}")
# Other roles can read statements (pg_stat_activity), so none contains the channel's name.
_SET_CHANNEL: Final = "SELECT set_config('sayso.channel', %s, false)"
_LISTEN: Final = """DO $$ BEGIN /* sayso listens */
    EXECUTE format('LISTEN %I', current_setting('sayso.channel')); END $$"""
_AGAIN_SECONDS: Final = 1.0
_LISTEN_SECONDS: Final = 20.0
_LOCK: Final = 0x61766F77
"""The advisory lock under which tables are created."""
_DEFAULTS: Final = {
    "connect_timeout": "5",
    "application_name": "sayso",
    "keepalives_idle": "30",
    "tcp_user_timeout": "15000",
}
_log: Final = logging.getLogger(__name__)
_NAMED: Final = re.compile(r"(?<!:):(\w+)")


@contextlib.asynccontextmanager
async def _closing(connection: psycopg.AsyncConnection[Any]) -> AsyncGenerator[None]:
    """Close a connection on exit; psycopg's own context leaves it open if cancelled twice."""
    try:
        yield
    finally:
        await connection.close()


@cache
def _translate(sql: str) -> LiteralString:
    text = _NAMED.sub(r"%(\1)s", sql.replace("?", "%s"))
    return cast("LiteralString", text)  # every statement is a constant of this package


@dataclass(frozen=True, slots=True)
class PostgresSession:
    """One connection, as a `Session`."""

    connection: psycopg.Connection[Row]
    watchdog: StatementWatchdog

    def query(self, sql: str, values: Mapping[str, Any] | None = None) -> list[Row]:
        with self.watchdog:
            return self.connection.execute(_translate(sql), values).fetchall()

    def pages(self, sql: str, size: int) -> Iterator[list[Row]]:
        """Yield the rows through a cursor in the database, so that they are never all here."""
        with self.connection.cursor(name="sayso_pages") as cursor:
            with self.watchdog:
                cursor.execute(_translate(sql))
            while True:
                with self.watchdog:
                    rows = cursor.fetchmany(size)
                if not rows:
                    return
                yield rows

    def change(self, sql: str, values: Mapping[str, Any] | None = None) -> int:
        with self.watchdog:
            return self.connection.execute(_translate(sql), values).rowcount

    def insert(self, sql: str, rows: Sequence[Row]) -> int:
        with self.watchdog, self.connection.cursor() as cursor:
            cursor.executemany(_translate(sql), rows)
            return max(cursor.rowcount, 0)

    def settle(self) -> None:
        self._do("SET CONSTRAINTS ALL IMMEDIATE")

    def announce(self, channel: str, number: int) -> None:
        values = {"channel": channel, "number": str(number)}
        self.query("SELECT pg_notify(:channel, :number)", values)

    def queue(self, name: str) -> None:
        self.query(
            "SELECT pg_advisory_xact_lock(hashtextextended(:name, :lock))",
            {"name": storable(name), "lock": _LOCK},
        )

    def now(self) -> float:
        sql = "SELECT CAST(extract(epoch FROM clock_timestamp()) AS double precision)"
        return self.query(sql)[0][0]

    def renumber(self) -> None:
        """Set the counters of new numbers, because copied rows have not moved them."""
        for table, column in (("records", "seq"), ("approvals", "number"), ("grants", "number")):
            self.query(
                f"SELECT setval(pg_get_serial_sequence('{table}', '{column}'), "
                f"(SELECT coalesce(max({column}), 0) + 1 FROM {table}), false)"
            )

    def begin(self) -> None:
        self._do("BEGIN")

    def commit(self) -> None:
        self._do("COMMIT")

    def rollback(self) -> None:
        self._do("ROLLBACK")

    def close(self) -> None:
        self.connection.close()

    def _do(self, sql: LiteralString) -> None:
        with self.watchdog:
            self.connection.execute(sql)


@dataclass(frozen=True, slots=True)
class PostgresDriver:
    """The `Driver` of one database."""

    url: str = field(repr=False)
    errors: ClassVar[tuple[type[Exception], ...]] = (psycopg.Error,)
    has_clock: ClassVar[bool] = True

    @property
    def where(self) -> str:
        parts = _parts(self.url)
        host = str(parts.get("host", "localhost"))
        if "user" in parts:
            host = f"{parts['user']}@{host}"
        if parts.get("port"):
            host = f"{host}:{parts['port']}"
        return f"postgresql://{host}/{parts.get('dbname', '')}"

    def open(self) -> Session:
        try:
            with contextlib.ExitStack() as stack:
                session = self._connect(stack)
                _migrate(session, self.where)
                stack.pop_all()
        except psycopg.Error as error:
            raise self.explain(error) from error
        return session

    @contextlib.contextmanager
    def snapshot(self) -> Generator[tuple[Session, int]]:
        with contextlib.ExitStack() as stack:
            session = self._connect(stack)
            session.change("BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            yield session, _version_of(session, self.where)

    def copy_to(self, path: Path, progress: Callable[[int, int], None]) -> int:
        """Copy the rows of all tables, read in one transaction that sees one moment.

        pg_dump would do so too, but it must be installed, not older than the server, and its file
        could be restored only into PostgreSQL.
        """
        with self.snapshot() as (session, version), new_copy(path, version) as target:
            copy_rows(session, target, version=version, progress=progress)
        return version

    def size(self, session: Session) -> int:
        sql = "SELECT sum(pg_total_relation_size(oid)) FROM pg_class WHERE relkind = 'r' AND "
        return int(session.query(f"{sql} relnamespace = 'sayso'::regnamespace")[0][0])

    def _connect(self, stack: contextlib.ExitStack) -> PostgresSession:
        connection = psycopg.connect(self._info(), autocommit=True)
        stack.callback(connection.close)
        # A commit must be on disk, whatever the server's default is.
        connection.execute("SET synchronous_commit TO on")
        connection.execute("SET search_path TO sayso")
        return PostgresSession(connection, StatementWatchdog(connection, self._info()))

    async def watch(self, notified: Callable[[int], None], channel: str) -> None:
        """Call `notified` with each number announced on `channel`; reconnect if necessary.

        A payload that is not a number is ignored, and logged once.
        """
        is_reported = False
        while True:
            try:
                connection = await psycopg.AsyncConnection.connect(self._info(), autocommit=True)
                async with _closing(connection):
                    await connection.execute(_SET_CHANNEL, [channel])
                    await connection.execute(_LISTEN)
                    while True:
                        async for notice in connection.notifies(timeout=_LISTEN_SECONDS):
                            if _NUMBER.fullmatch(notice.payload):
                                notified(int(notice.payload))
                            elif not is_reported:
                                is_reported = True
                                _log.warning("%s: ignored a malformed notification", self.where)
                        # Test the silent connection, which may be dead.
                        async with asyncio.timeout(PATIENCE_SECONDS):
                            await connection.execute("SELECT 1")
            except (psycopg.Error, TimeoutError) as error:
                _log.warning("%s: other processes' answers arrive late: %s", self.where, error)
            except Exception:  # noqa: BLE001 - no error may end the process
                _log.exception("%s: other processes' answers arrive late", self.where)
            await asyncio.sleep(_AGAIN_SECONDS)

    def _info(self) -> str:
        return conninfo.make_conninfo("", **{**_DEFAULTS, **_parts(self.url)})

    def explain(self, error: Exception) -> StoreError:
        text = str(error)
        first = text.strip().partition("\n")[0]
        if "password" in text or isinstance(error, errors.InvalidAuthorizationSpecification):
            fix = "Give the right user and password in the URL, or in PGPASSWORD or ~/.pgpass."
            return StoreError("the database refuses this user", where=self.where, fix=fix)
        if isinstance(error, errors.InsufficientPrivilege):
            fix = "Allow the user to create a schema, or create the schema sayso for the user."
            return StoreError("the database user lacks permission", where=self.where, fix=fix)
        if isinstance(error, errors.DiskFull):
            return StoreError("the disk is full", where=self.where, fix="Free some space.")
        if self.is_lost(error):
            fix = "Check that the database runs, and that host and port are right."
            return StoreError("the database cannot be reached", where=self.where, fix=fix)
        return StoreError(f"the database cannot be used: {first}", where=self.where)

    def is_lost(self, error: Exception) -> bool:
        if isinstance(error, errors.AdminShutdown | errors.CrashShutdown):
            return True
        # An error without a state comes from the connection itself.
        return isinstance(error, psycopg.OperationalError) and error.sqlstate is None

    def is_clash(self, error: Exception) -> bool:
        return isinstance(error, errors.DeadlockDetected | errors.SerializationFailure)


def _parts(url: str) -> dict[str, Any]:
    try:
        return conninfo.conninfo_to_dict(url)
    except psycopg.Error:
        # The driver's own message repeats the URL, with its password.
        fix = "Write postgresql://USER@HOST:PORT/DATABASE."
        raise UsageError("the URL cannot be read", where="--store", fix=fix) from None


def _migrate(session: PostgresSession, where: str) -> None:
    if _version_of(session, where) == VERSION:
        return
    session.begin()
    try:
        session.query("SELECT pg_advisory_xact_lock(:lock)", {"lock": _LOCK})
        version = _version_of(session, where)
        if version == 0:
            session.change("CREATE SCHEMA IF NOT EXISTS sayso")
            session.change("CREATE TABLE version (version BIGINT NOT NULL)")
            session.change("INSERT INTO version VALUES (0)")
        upgrade(session, POSTGRES_TYPES, version)
        session.change("UPDATE version SET version = :version", {"version": VERSION})
        session.commit()
    except BaseException:
        with contextlib.suppress(psycopg.Error):
            session.rollback()
        raise


def _version_of(session: PostgresSession, where: str) -> int:
    sql = "SELECT tablename FROM pg_tables WHERE schemaname = 'sayso'"
    tables = [name for (name,) in session.query(sql)]
    if not tables:
        return 0
    if "version" not in tables or "records" not in tables:
        what = "the schema sayso in this database belongs to another program"
        raise StoreError(what, where=where, fix="Choose another database.")
    version = int(session.query("SELECT version FROM version")[0][0])
    check_version(version, where)
    return version
