"""Stores of older versions: made by an older commit, or loaded from its dump.

`PYTHONPATH=. .venv/bin/python -m tests.store.older` wrote `version_9.sql` so.
Dumps are in SQLite's dialect; lines that begin with INSERT are also read into PostgreSQL.
"""

import base64
import os
import sqlite3
import subprocess
import sys
import tarfile
import tempfile
from contextlib import closing
from io import BytesIO
from pathlib import Path

import psycopg
from tests.databases import Place

from sayso.store.migrations import POSTGRES_TYPES, STEPS

COMMIT = "8d800930"
"""The last commit before backups, and the one that wrote `version_9.sql`."""
FILL = Path(__file__).with_name("fill.py")
KEYS = base64.b64encode(b"k" * 32).decode()
"""The value of `SAYSO_KEYS` for the logs in the dumps."""
ROOT = Path(__file__).parents[2]


def extract(folder: Path) -> Path:
    """Write the source and tests of the older commit to a folder. Needs the history of git."""
    command = ["git", "-C", str(ROOT), "archive", COMMIT, "src", "tests"]
    done = subprocess.run(command, capture_output=True, check=False)
    assert done.returncode == 0, f"commit {COMMIT} is missing: fetch the whole history"
    with tarfile.open(fileobj=BytesIO(done.stdout)) as archive:
        archive.extractall(folder, filter="data")
    return folder


def python(source: Path, *words: str) -> str:
    """Run Python with the sayso and the tests in a folder; return what it printed."""
    done = subprocess.run(
        [sys.executable, *words],
        env={
            "PATH": os.environ["PATH"],
            "PYTHONPATH": f"{source / 'src'}{os.pathsep}{source}",
            "SAYSO_KEYS": KEYS,
        },
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def load_dump(place: Place, version: int) -> None:
    """Make the store of a dump in an empty database."""
    text = FILL.with_name(f"version_{version}.sql").read_text(encoding="utf-8")
    if place.server is None:
        with closing(sqlite3.connect(place.url.removeprefix("sqlite:"))) as db:
            db.executescript(text)
        return
    # The other steps change rows, and there are none yet.
    steps = [step for steps in STEPS[:version] for step in steps if isinstance(step, str)]
    with psycopg.connect(place.url, autocommit=True) as db:
        db.execute("CREATE SCHEMA sayso")
        db.execute("SET search_path TO sayso")
        db.execute("CREATE TABLE version (version BIGINT NOT NULL)")
        db.execute("INSERT INTO version VALUES (%s)", [version])
        for step in steps:
            db.execute(step.format(**POSTGRES_TYPES).encode())
        for line in text.splitlines():
            if line.startswith("INSERT"):
                db.execute(line.encode())
        for table, column in db.execute(
            "SELECT table_name, column_name FROM information_schema.columns "
            "WHERE table_schema = 'sayso' AND is_identity = 'YES'"
        ).fetchall():
            text = f"SELECT setval(pg_get_serial_sequence('{table}', '{column}'), max({column}))"
            db.execute(f"{text} FROM {table}".encode())


def set_version(place: Place, version: int) -> None:
    """Let a store say that its tables have this version."""
    if place.server is None:
        with closing(sqlite3.connect(place.url.removeprefix("sqlite:"))) as db:
            db.execute(f"PRAGMA user_version = {version}")
        return
    with psycopg.connect(place.url, autocommit=True) as db:
        db.execute("UPDATE sayso.version SET version = %s", [version])


def _dump() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "sayso.db"
        python(extract(Path(folder) / "old"), str(FILL), f"sqlite:{path}")
        with closing(sqlite3.connect(path)) as db:
            lines = [line for line in db.iterdump() if "sqlite_sequence" not in line]
            names = ("application_id", "user_version")
            values = [db.execute(f"PRAGMA {name}").fetchone()[0] for name in names]
    head = [f"-- Written by tests/store/older.py with the sayso of commit {COMMIT}."]
    head += [f"PRAGMA {name} = {value};" for name, value in zip(names, values, strict=True)]
    FILL.with_name("version_9.sql").write_text("\n".join([*head, *lines, ""]), encoding="utf-8")


if __name__ == "__main__":
    _dump()
