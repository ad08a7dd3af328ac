"""How fast the audit log is durable, against bare SQLite commits in the same run.

One by one: each record is on disk before the next is made. In groups: many callers at once, and
each still waits until its own record is on disk. The yardstick is one INSERT per commit of the
same text, in WAL mode with `synchronous=FULL`. Rounds alternate; medians are compared. Exits with
1 when a target is missed.

A group shares one commit, so it gains what the disk takes for it: the less that is, the less
there is to gain, and what remains is processor time, which is measured too (of all threads).
`--folder` puts the files where a log really lives; a temporary folder may be in memory.

Usage: `python bench/audit.py [--rounds N] [--folder DIR] [--json]`, with the Python of `.venv`.
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
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple, Self

from sayso.audit import AuditLog, Event, Facts, open_audit
from sayso.audit.record import record
from sayso.catalog import make_tool
from sayso.keys import Keyring, load_keys
from sayso.policy import LOCAL, Decision, Effect, Principal
from sayso.schema import digest
from sayso.store import Database, open_store

ONE_BY_ONE = 0.8
GROUPED = 20.0
ROUNDS = 5
BARE = "bare commits"
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


def new_calls(count: int) -> list[Facts]:
    """The same call under ids of their own, as real ones have; made before time is taken."""
    return [replace(FACTS, call=uuid.uuid4().hex) for _ in range(count)]


@dataclass(slots=True)
class Watch:
    """Seconds per record of one round, by the clock and of the processor."""

    count: int
    seconds: float = 0
    processor: float = 0
    _started: tuple[float, float] = field(default=(0, 0), repr=False)

    def __enter__(self) -> Self:
        """Start."""
        self._started = time.perf_counter(), time.process_time()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop."""
        start, processor = self._started
        self.seconds = (time.perf_counter() - start) / self.count
        self.processor = (time.process_time() - processor) / self.count


class Result(NamedTuple):
    """One way to write: records per second, that against bare commits, and µs per record."""

    name: str
    per_second: float
    ratio: float
    elapsed_us: float
    processor_us: float
    target: float | None

    @property
    def is_met(self) -> bool:
        """Whether the target, if there is one, is kept."""
        return self.target is None or self.ratio >= self.target


def bare(path: Path) -> Watch:
    """Commits of SQLite alone, with the text of a real record."""
    row = record(FACTS, 1.0, Event.ATTEMPT)
    text = row.body + (row.payload or "")
    db = sqlite3.connect(path, isolation_level=None)
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("PRAGMA synchronous = FULL")
    db.execute("CREATE TABLE IF NOT EXISTS t (seq INTEGER PRIMARY KEY, body TEXT)")
    with Watch(SINGLES) as watch:
        for _ in range(SINGLES):
            db.execute("BEGIN IMMEDIATE")
            db.execute("INSERT INTO t (body) VALUES (?)", (text,))
            db.execute("COMMIT")
    db.close()
    return watch


async def one_by_one(log: AuditLog) -> Watch:
    """Attempts, each on disk before the next."""
    calls = new_calls(SINGLES)
    with Watch(SINGLES) as watch:
        for call in calls:
            await log.attempt(call, 1)
    return watch


async def grouped(log: AuditLog) -> Watch:
    """Attempts of many callers, each waiting for its own."""
    calls = new_calls(CALLERS)
    with Watch(CALLERS) as watch:
        await asyncio.gather(*(log.attempt(call, 1) for call in calls))
    return watch


async def appended(log: AuditLog) -> Watch:
    """Records of many callers, made beforehand: the store and the chain alone."""
    rows = [record(call, 1.0, Event.ATTEMPT) for call in new_calls(CALLERS)]
    with Watch(CALLERS) as watch:
        await asyncio.gather(*(log.records.append([one], seal=log.chain) for one in rows))
    return watch


async def measure(folder: Path, rounds: int) -> list[Result]:
    """All ways in turn, `rounds` times after one that only warms up."""
    store: Database = open_store(f"sqlite:{folder / 'sayso.db'}")
    keys: Keyring = load_keys(folder / "sayso.db", is_made=True)
    ways = {"one by one": one_by_one, "in groups": grouped, "in groups, already made": appended}
    found: dict[str, list[Watch]] = {name: [] for name in (BARE, *ways)}
    async with open_audit(store, keys) as log:
        for number in range(rounds + 1):
            watches = {BARE: bare(folder / "bare.db")}
            for name, way in ways.items():
                watches[name] = await way(log)
            for name, watch in watches.items():
                if number:
                    found[name].append(watch)
    await store.close()
    targets = {"one by one": ONE_BY_ONE, "in groups": GROUPED}
    yardstick = statistics.median(one.seconds for one in found[BARE])
    return [
        summed_up(name, watches, yardstick, targets.get(name)) for name, watches in found.items()
    ]


def summed_up(name: str, watches: list[Watch], yardstick: float, target: float | None) -> Result:
    """The medians of one way's rounds."""
    seconds = statistics.median(one.seconds for one in watches)
    processor = statistics.median(one.processor for one in watches)
    return Result(name, 1 / seconds, yardstick / seconds, seconds * 1e6, processor * 1e6, target)


def show(results: list[Result], write: Callable[[str], object] = print) -> None:
    """Print a table for people."""
    head = f"{'way to write':<26}{'records/s':>12}{'µs each':>10}{'processor':>11}"
    write(f"{head}{'x bare':>10}{'target':>10}")
    for one in results:
        target = "" if one.target is None else f"{one.target:.1f}"
        word = "" if one.target is None else ("  met" if one.is_met else "  MISSED")
        times = f"{one.elapsed_us:>10.1f}{one.processor_us:>11.1f}"
        line = f"{one.name:<26}{one.per_second:>12,.0f}{times}{one.ratio:>10.2f}{target:>10}{word}"
        write(line.rstrip())
    commit = results[0]
    waits = commit.elapsed_us - commit.processor_us
    write(f"\nA commit takes {commit.elapsed_us:.0f} µs here, {waits:.0f} of them for the disk.")


def main() -> int:
    """Measure, print, and return 1 when a target is missed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="how often each is measured")
    parser.add_argument("--folder", type=Path, help="where the files are made, for the time being")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    options = parser.parse_args()
    if options.rounds < 1:
        parser.error("--rounds must be at least 1")
    with tempfile.TemporaryDirectory(prefix="sayso-bench-", dir=options.folder) as folder:
        results = asyncio.run(measure(Path(folder), options.rounds))
    if options.json:
        found = [{**one._asdict(), "is_met": one.is_met} for one in results]
        print(json.dumps({"schema": 1, "results": found}, indent=2))
    else:
        show(results)
    return 0 if all(one.is_met for one in results) else 1


if __name__ == "__main__":
    sys.exit(main())
