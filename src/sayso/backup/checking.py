"""Checks of an unpacked store: whether the database is whole, and whether its log verifies."""

import contextlib
import sqlite3
from pathlib import Path
from typing import Any

from sayso.audit import verify
from sayso.backup.manifest import damaged
from sayso.backup.stages import Progress, run_stage
from sayso.keys import Keyring
from sayso.store import open_store


async def check_copy(path: Path, keys: Keyring, *, where: str, progress: Progress) -> list[str]:
    """Return the problems of the log in a copy. The copy is upgraded to this version.

    Raises `UsageError` if the copy is not a whole database.
    """
    await run_stage("Checking", lambda _: _check_whole(path, where), progress)
    store = open_store(f"sqlite:{path}")
    try:
        total = await store.records.count()

        def report(done: int) -> None:
            progress("Verifying", done, total)

        result: Any = await verify(store.records, keys, progress=report)
    finally:
        await store.close()
    return [str(problem) for problem in result.problems]


def _check_whole(path: Path, where: str) -> None:
    try:
        with contextlib.closing(sqlite3.connect(path)) as connection:
            found = connection.execute("PRAGMA integrity_check(1)").fetchone()[0]
    except sqlite3.Error as error:
        found = str(error)
    if found != "ok":
        raise damaged(f"its database is not whole ({found})", where)
