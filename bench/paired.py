"""Compare the gateway of this checkout with the gateway of another one.

Both run at the same time, in front of the same server, and take turns in random order. The ratio is
this checkout's time divided by the other's, round by round; the table shows its median. A ratio
above 1.03 for any kind of call fails the run.

Usage: `python bench/paired.py --before OTHER/.venv/bin/sayso [--rounds N] [--seconds S] [--json]`.
"""

import argparse
import contextlib
import json
import math
import random
import statistics
import sys
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

import uvloop
from gateway import FEW, WORKS
from load import MODERN, OLD, Endpoint, Measured, Work, load
from setting import Setting, until_good

BEFORE, AFTER = "before", "after"
MAX_RATIO = 1.03

Rounds = dict[str, list[Measured]]
"""Measurements by the endpoint's name, one per round."""


@dataclass(frozen=True, slots=True)
class Row:
    """The ratios of one kind of call over all rounds, and the calls that failed."""

    name: str
    median: float
    lowest: float
    highest: float
    errors: int

    @property
    def is_met(self) -> bool:
        """Return whether the target holds; a run with failed calls shows nothing."""
        return self.errors == 0 and self.median <= MAX_RATIO


def round_ratio(work: Work, after: Measured, before: Measured) -> float:
    """Return the ratio of one round: of the median call, or with many callers of the throughput."""
    if work.callers == 1:
        return after.p50 / before.p50
    return before.rate / after.rate if after.rate else math.inf


async def measure(endpoints: list[Endpoint], work: Work, *, rounds: int, seconds: float) -> Rounds:
    """Measure both endpoints `rounds` times, after one round that only warms up."""
    measured: Rounds = {endpoint.name: [] for endpoint in endpoints}
    for number in range(rounds + 1):
        for endpoint in random.sample(endpoints, len(endpoints)):
            result = await load(endpoint, work, seconds=seconds)
            if number > 0:
                measured[endpoint.name].append(result)
    return measured


async def compare(folder: Path, options: argparse.Namespace) -> list[Row]:
    """Return one row for each kind of call in each protocol version."""
    rows: list[Row] = []
    with contextlib.ExitStack() as stack:
        setting = Setting(folder, stack)
        server = setting.behind(FEW)
        await until_good(server)
        gateways = [
            setting.sayso(server.url, program=options.before, name=BEFORE),
            setting.sayso(server.url, name=AFTER),
        ]
        for gateway in gateways:
            await until_good(gateway)
        for version in (MODERN, OLD):
            endpoints = [Endpoint(g.name, g.url, version, g.pid, g.prefix) for g in gateways]
            for work in WORKS:
                measured = await measure(
                    endpoints, work, rounds=options.rounds, seconds=options.seconds
                )
                pairs = list(zip(measured[AFTER], measured[BEFORE], strict=True))
                ratios = [round_ratio(work, after, before) for after, before in pairs]
                rows.append(
                    Row(
                        name=f"{version} {work.name}",
                        median=statistics.median(ratios),
                        lowest=min(ratios),
                        highest=max(ratios),
                        errors=sum(after.errors + before.errors for after, before in pairs),
                    )
                )
    return rows


def main() -> int:
    """Measure, print, and return 1 if a ratio is above the target or a call failed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--before", required=True, help="the other checkout's sayso command")
    parser.add_argument("--rounds", type=int, default=5, help="rounds for each kind of call")
    parser.add_argument("--seconds", type=float, default=1.0, help="seconds per measurement")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="sayso-bench-") as folder:
        rows = uvloop.run(compare(Path(folder), options))
    if options.json:
        results = [asdict(row) | {"is_met": row.is_met} for row in rows]
        print(json.dumps({"schema": 1, "target": MAX_RATIO, "results": results}, indent=2))
    else:
        print(f"{'after / before':<32}{'median':>8}{'lowest':>8}{'highest':>9}{'errors':>8}")
        for row in rows:
            figures = f"{row.median:>8.3f}{row.lowest:>8.3f}{row.highest:>9.3f}{row.errors:>8}"
            print(f"{row.name:<32}{figures}  {'met' if row.is_met else 'MISSED'}")
    return 0 if all(row.is_met for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
