"""Three gateways behind nginx on one PostgreSQL, and the server that they are in front of."""

import json
import secrets
import signal
import socket
import subprocess
import sys
import time
from base64 import b64encode
from collections import Counter
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg
from tests.cli.running import COMMAND, environment
from tests.postgres import PostgresServer
from tests.replicas.balancer import balanced
from tests.replicas.serving import JOURNAL


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as one:
        return one.getsockname()[1]


def wait_for(port: int, seconds: float = 60) -> None:
    """Until something listens there."""
    until = time.monotonic() + seconds
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            assert time.monotonic() < until, f"nothing listens at {port}"
            time.sleep(0.02)
        else:
            return


@dataclass
class Replica:
    """One gateway, which may be killed and started again."""

    words: list[str]
    keys: str
    port: int
    said: Path
    process: subprocess.Popen[str] | None = None
    link: str = ""
    codes: list[int] = field(default_factory=list[int])

    def start(self) -> None:
        with self.said.open("a") as said:
            self.process = subprocess.Popen(
                self.words,
                env=environment(SAYSO_KEYS=self.keys),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=said,
                encoding="utf-8",
            )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, self.said.read_text()
        self.link = json.loads(line)["console"]
        wait_for(self.port)

    def end(self, number: int = signal.SIGTERM, seconds: float = 30) -> None:
        """Send a signal, and wait for the end."""
        assert self.process is not None
        self.process.send_signal(number)
        self.codes.append(self.process.wait(seconds))
        self.let_go()

    def kill(self) -> None:
        """Leave nothing behind."""
        if self.process is not None:
            self.process.kill()
            self.process.wait(60)
            self.let_go()

    def let_go(self) -> None:
        """Read no more of what it says."""
        if self.process is not None and self.process.stdout is not None:
            self.process.stdout.close()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"


@dataclass
class Town:
    """All of it, and what is known of what happened."""

    replicas: list[Replica]
    public: str
    database: str
    journal: Path
    keys: str
    folder: Path

    def ran(self) -> Counter[int]:
        """How often the server did each write."""
        return Counter(int(line) for line in self.journal.read_text().split())

    def records(self) -> list[dict[str, Any]]:
        """The record, oldest line first."""
        sql = "SELECT call, event, body, payload FROM sayso.records WHERE call <> '' ORDER BY seq"
        with psycopg.connect(self.database) as db:
            return [
                {"call": call, "event": event, **json.loads(body), **json.loads(payload or "{}")}
                for call, event, body, payload in db.execute(sql)
            ]

    def verify(self) -> subprocess.CompletedProcess[str]:
        """`sayso audit verify`, as a person runs it."""
        return subprocess.run(
            [*COMMAND, "audit", "verify", "--store", self.database],
            env=environment(SAYSO_KEYS=self.keys),
            capture_output=True,
            encoding="utf-8",
            timeout=60,
            check=False,
        )


@contextmanager
def town(folder: Path, server: PostgresServer, *, count: int = 3) -> Generator[Town]:
    journal, keys = folder / "journal", b64encode(secrets.token_bytes(32)).decode()
    journal.touch()
    database, public, behind = server.fresh(), free_port(), free_port()
    ports = [free_port() for _ in range(count)]
    with ExitStack() as stack:
        upstream = stack.enter_context(
            subprocess.Popen([sys.executable, JOURNAL, str(journal), str(behind)])
        )
        stack.callback(upstream.kill)
        wait_for(behind)
        config = folder / "servers.json"
        entry = {"url": f"http://127.0.0.1:{behind}/mcp"}
        config.write_text(json.dumps({"mcpServers": {"journal": entry}}))
        replicas: list[Replica] = []
        for port in ports:
            words = [*COMMAND, "gateway", str(config), "--json", "--store", database]
            words += ["--port", str(port), "--public-url", f"http://127.0.0.1:{public}"]
            words += ["--patience", "10", "--drain", "3", "--timeout", "10"]
            replicas.append(Replica(words, keys, port, folder / f"said-{port}"))
        for one in replicas:
            one.start()
            stack.callback(one.kill)
        stack.enter_context(balanced(folder / "nginx", public, ports))
        wait_for(public)
        yield Town(replicas, f"http://127.0.0.1:{public}", database, journal, keys, folder)
        for one in replicas:
            if one.process is not None and one.process.poll() is None:
                one.end()
