"""How much the audit log grows with each start of a process.

Two kinds of starts are measured: processes that are never called, and processes that serve one
call. Reported are the bytes of records per start, of the first and of the last tenth of the starts.
A log that grows evenly has a ratio of 1; one that grows with the square of the number of starts
has a ratio of about 19. Exits with 1 when a start without a call writes anything, or when the
ratio is above its target.

Usage: `python bench/starts.py [--starts N] [--json]`, with the Python of `.venv`.
"""

import argparse
import asyncio
import json
import sqlite3
import sys
import tempfile
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from audit import FACTS

from sayso.audit import Outcome, open_audit
from sayso.audit.verifier import verify
from sayso.keys import load_keys
from sayso.store import open_store

STARTS = 300
MOST_GROWTH = 1.2


class Growth(NamedTuple):
    """Bytes of records after some starts, in all and per start."""

    name: str
    starts: int
    total_bytes: int
    first_bytes: float
    last_bytes: float
    is_met: bool


async def measure(folder: Path, starts: int, *, is_called: bool) -> Growth:
    """Start processes one after another on one store, and weigh its records as it grows."""
    path = folder / f"called-{is_called}.db"
    keys = load_keys(path, is_made=True)
    tenth = max(1, starts // 10)
    sizes = {0: 0}
    for number in range(1, starts + 1):
        store = open_store(f"sqlite:{path}")
        async with open_audit(store, keys) as log:
            if is_called:
                facts = replace(FACTS, call=f"c{number}")
                await log.attempt(facts, None)
                await log.outcome(facts, Outcome.OK, started=0.0)
        await store.close()
        if number in (tenth, starts - tenth, starts):
            sizes[number] = size(path)
    store = open_store(f"sqlite:{path}")
    report = await verify(store.records, keys)
    await store.close()
    first = sizes[tenth] / tenth
    last = (sizes[starts] - sizes[starts - tenth]) / tenth
    is_met = last <= first * MOST_GROWTH and (is_called or not report.records)
    name = "with one call each" if is_called else "without a call"
    return Growth(name, starts, sizes[starts], first, last, is_met and not report.problems)


def size(path: Path) -> int:
    """Return the bytes of all records in a database."""
    with closing(sqlite3.connect(path)) as db:
        sql = "SELECT sum(length(body) + coalesce(length(payload), 0) + length(mac)) FROM records"
        return db.execute(sql).fetchone()[0] or 0


def main() -> int:
    """Measure, print, and return 1 when a target is missed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--starts", type=int, default=STARTS, help="how many processes to start")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    options = parser.parse_args()
    if options.starts < 1:
        parser.error("--starts must be at least 1")
    with tempfile.TemporaryDirectory(prefix="sayso-bench-") as folder:
        results = [
            asyncio.run(measure(Path(folder), options.starts, is_called=is_called))
            for is_called in (False, True)
        ]
    if options.json:
        print(json.dumps({"schema": 1, "results": [one._asdict() for one in results]}, indent=2))
    else:
        print(f"{'starts':<24}{'number':>8}{'total KiB':>12}{'first B':>10}{'last B':>10}")
        for one in results:
            word = "met" if one.is_met else "MISSED"
            line = f"{one.name:<24}{one.starts:>8}{one.total_bytes / 1024:>12,.1f}"
            print(f"{line}{one.first_bytes:>10,.0f}{one.last_bytes:>10,.0f}  {word}")
    return 0 if all(one.is_met for one in results) else 1


if __name__ == "__main__":
    sys.exit(main())
