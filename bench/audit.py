"""How fast the audit log is durable, against bare SQLite commits in the same run.

One by one: each record is on disk before the next is made. In groups: many callers at once, and
each still waits until its own record is on disk. The yardstick is one INSERT per commit of the
same text, in WAL mode with `synchronous=FULL`. Rounds alternate; medians are compared. Exits with
1 when a target is missed.

Usage: `python bench/audit.py [--rounds N] [--json]`, with the Python of `.venv`.
"""

import argparse
import asyncio
import json
import sqlite3
import statistics
import sys
import tempfile
import time
import uuid
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from avow.audit import AuditLog, Event, Facts, open_audit
from avow.audit.record import record
from avow.catalog import make_tool
from avow.keys import Keyring, load_keys
from avow.policy import LOCAL, Decision, Effect, Principal
from avow.schema import digest
from avow.store import Store, open_store

ONE_BY_ONE = 0.8
GROUPED = 20.0
ROUNDS = 5
SINGLES = 400
CALLERS = 4000

TOOL = make_tool(
    "demo",
    {"name": "customer_delete", "inputSchema": {"type": "object"}, "annotations": {"title": "x"}},
)
ARGUMENTS = {"customer_id": 7, "reason": "asked for by mail"}
FACTS = Facts(
    "0" * 32,
    Principal(LOCAL, client="chat"),
    TOOL,
    ARGUMENTS,
    digest(ARGUMENTS),
    Decision(Effect.CONFIRM, "mode:guarded", "it may destroy something"),
)


def new_call() -> Facts:
    """The same call under an id of its own, as each real one has."""
    return replace(FACTS, call=uuid.uuid4().hex)


class Result(NamedTuple):
    """Records per second of one way to write, and that against bare commits."""

    name: str
    per_second: float
    ratio: float
    target: float | None

    @property
    def is_met(self) -> bool:
        """Whether the target, if there is one, is kept."""
        return self.target is None or self.ratio >= self.target


def bare(path: Path) -> float:
    """Commits per second of SQLite alone, with the text of a real record."""
    row = record(FACTS, 1.0, Event.ATTEMPT)
    text = row.body + (row.payload or "")
    db = sqlite3.connect(path, isolation_level=None)
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("PRAGMA synchronous = FULL")
    db.execute("CREATE TABLE IF NOT EXISTS t (seq INTEGER PRIMARY KEY, body TEXT)")
    start = time.perf_counter()
    for _ in range(SINGLES):
        db.execute("BEGIN IMMEDIATE")
        db.execute("INSERT INTO t (body) VALUES (?)", (text,))
        db.execute("COMMIT")
    elapsed = time.perf_counter() - start
    db.close()
    return SINGLES / elapsed


async def one_by_one(log: AuditLog) -> float:
    """Attempts per second, each on disk before the next."""
    start = time.perf_counter()
    for _ in range(SINGLES):
        await log.attempt(new_call(), 1)
    return SINGLES / (time.perf_counter() - start)


async def grouped(log: AuditLog) -> float:
    """Attempts per second of many callers, each waiting for its own."""
    start = time.perf_counter()
    await asyncio.gather(*(log.attempt(new_call(), 1) for _ in range(CALLERS)))
    return CALLERS / (time.perf_counter() - start)


async def appended(log: AuditLog) -> float:
    """Records per second of many callers, made beforehand: the store and the chain alone."""
    rows = [record(new_call(), 1.0, Event.ATTEMPT) for _ in range(CALLERS)]
    start = time.perf_counter()
    await asyncio.gather(*(log.store.append([one], seal=log.chain) for one in rows))
    return CALLERS / (time.perf_counter() - start)


async def measure(folder: Path, rounds: int) -> list[Result]:
    """All ways in turn, `rounds` times after one that only warms up."""
    store: Store = open_store(f"sqlite:{folder / 'avow.db'}")
    keys: Keyring = load_keys(folder / "avow.db", is_made=True)
    ways = {"one by one": one_by_one, "in groups": grouped, "in groups, already made": appended}
    found: dict[str, list[float]] = {name: [] for name in ("bare commits", *ways)}
    async with open_audit(store, keys) as log:
        for number in range(rounds + 1):
            speeds = {"bare commits": bare(folder / "bare.db")}
            for name, way in ways.items():
                speeds[name] = await way(log)
            for name, speed in speeds.items():
                if number:
                    found[name].append(speed)
    await store.close()
    medians = {name: statistics.median(values) for name, values in found.items()}
    targets = {"one by one": ONE_BY_ONE, "in groups": GROUPED}
    yardstick = medians["bare commits"]
    return [
        Result(name, speed, speed / yardstick, targets.get(name)) for name, speed in medians.items()
    ]


def show(results: list[Result], write: Callable[[str], object] = print) -> None:
    """Print a table for people."""
    write(f"{'way to write':<26}{'records/s':>12}{'x bare':>10}{'target':>10}")
    for one in results:
        target = "" if one.target is None else f"{one.target:.1f}"
        word = "" if one.target is None else ("  met" if one.is_met else "  MISSED")
        write(f"{one.name:<26}{one.per_second:>12,.0f}{one.ratio:>10.2f}{target:>10}{word}")


def main() -> int:
    """Measure, print, and return 1 when a target is missed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="how often each is measured")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    options = parser.parse_args()
    if options.rounds < 1:
        parser.error("--rounds must be at least 1")
    with tempfile.TemporaryDirectory(prefix="avow-bench-") as folder:
        results = asyncio.run(measure(Path(folder), options.rounds))
    if options.json:
        found = [{**one._asdict(), "is_met": one.is_met} for one in results]
        print(json.dumps({"schema": 1, "results": found}, indent=2))
    else:
        show(results)
    return 0 if all(one.is_met for one in results) else 1


if __name__ == "__main__":
    sys.exit(main())
