"""What the gateway costs a call, against the direct connection, in one interleaved run.

Beside it in the same rounds: a proxy that only forwards bytes (`forward.py`), and what others have
made (`others.py`), up to as many callers as they bear. All stand before the same server
(`behind.py`); sayso with everything on that is on by default. Rounds go over all endpoints in turn,
in an order that changes, and ratios are taken round by round. The processor's time is that of the
endpoint's own processes. Exits with 1 when a target is missed. As it is by default it takes about
a quarter of an hour; `make bench` lets it take a quarter of that.

Usage: `python bench/gateway.py [--rounds N] [--seconds S] [--soak N] [--quick] [--json]`, with the
Python of `.venv`.
"""

import argparse
import contextlib
import json
import math
import random
import statistics
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import uvloop
from load import MODERN, OLD, Endpoint, Measured, Work, load, memory_of
from setting import BYTES, DIRECT, ECHO, OURS, Setting, until_good

FEW, MANY = 100, 5_000
MOST_CALLERS = 8

WORKS = [
    Work("call, 1 caller", ECHO.tool, 1, ECHO.arguments),
    Work("call, 8 callers", ECHO.tool, 8, ECHO.arguments),
    Work("call, 32 callers", ECHO.tool, 32, ECHO.arguments),
    Work("call, 128 callers", ECHO.tool, 128, ECHO.arguments),
    Work("20 KB", "get_large", 1),
    Work("20 KB with a schema", "list_rows", 1),
    Work("66 KB, cut", "get_huge", 1),
    Work("list of 100", "", 1),
]
TARGETS = dict(
    zip((one.name for one in WORKS), (1.5, 1.25, 1.25, 1.25, 1.3, 1.8, 2.0, 1.3), strict=True)
)
CPU_TARGET, FLAT_TARGET = 1.5, 1.1
START_SECONDS, MEMORY_MIB, GROWTH = 1.0, 80.0, 1.1


Measurements = dict[str, dict[str, list[Measured]]]
"""What was measured: by the name of the work, and by that of the endpoint."""


@dataclass(frozen=True, slots=True)
class Result:
    """One promise: what was seen, and at most what it may be."""

    name: str
    seen: float
    target: float

    @property
    def is_met(self) -> bool:
        """Whether it is kept."""
        return self.seen <= self.target


def takes(one: Endpoint, work: Work) -> bool:
    """Whether an endpoint is measured by this work: those of others only where it ends soon."""
    return one.name in (DIRECT, BYTES, OURS) or work.callers <= MOST_CALLERS


async def compare(
    endpoints: Sequence[Endpoint], works: Sequence[Work], rounds: int, seconds: float
) -> Measurements:
    """All works on all endpoints in turn, after one round that only warms up."""
    found: Measurements = {
        work.name: {one.name: [] for one in endpoints if takes(one, work)} for work in works
    }
    for number in range(rounds + 1):
        for work in works:
            some = [one for one in endpoints if takes(one, work)]
            for one in random.sample(some, len(some)):
                measured = await load(one, work, seconds=seconds if number else seconds / 2)
                if number:
                    found[work.name][one.name].append(measured)
    return found


def ratio(work: Work, measured: Sequence[Measured], base: Sequence[Measured]) -> float:
    """How many times the direct connection it takes; for many callers, of the time for all."""
    if work.callers == 1:
        return statistics.median(a.p50 / b.p50 for a, b in zip(measured, base, strict=True))
    pairs = zip(measured, base, strict=True)
    return statistics.median(b.rate / a.rate if a.rate else math.inf for a, b in pairs)


def show(
    title: str,
    endpoints: Sequence[Endpoint],
    works: Sequence[Work],
    found: Measurements,
) -> None:
    """Print a table for people."""
    print(f"\n{title}: times the direct connection (processor ms for a call; errors)")
    print(f"{'':<22}" + "".join(f"{one.name:>24}" for one in endpoints))
    for work in works:
        cells: list[str] = []
        for one in endpoints:
            measured = found[work.name].get(one.name)
            if measured is None:
                cells.append("–")
                continue
            times = ratio(work, measured, found[work.name][DIRECT])
            cpu = statistics.median(each.cpu for each in measured) * 1000
            errors = sum(each.errors for each in measured)
            cells.append(f"{times:.2f} ({cpu:.2f}; {errors})")
        print(f"{work.name:<22}" + "".join(f"{cell:>24}" for cell in cells))


async def speed(setting: Setting, options: argparse.Namespace) -> list[Result]:
    """Both versions of the protocol, beside the others."""
    direct = setting.behind(FEW)
    await until_good(direct)
    endpoints = [direct, setting.forward(direct.url), setting.sayso(direct.url)]
    for one in endpoints:
        await until_good(one)
    others = [] if options.quick else await setting.others(direct.url)
    results: list[Result] = []
    for version in (MODERN, OLD):
        spoken = [
            Endpoint(one.name, one.url, version, one.pid, one.prefix) for one in endpoints
        ] + [one for one in others if one.version == version]
        found = await compare(spoken, WORKS, options.rounds, options.seconds)
        if not options.json:
            show(version, spoken, WORKS, found)
        results += _judged(version, found)
    return results


def _judged(version: str, found: Measurements) -> list[Result]:
    results: list[Result] = []
    for work in WORKS:
        ours, direct = found[work.name][OURS], found[work.name][DIRECT]
        name = f"{version} {work.name}"
        results.append(Result(name, ratio(work, ours, direct), TARGETS[work.name]))
        results.append(Result(f"{name}: errors", sum(one.errors for one in ours), 0))
    first = found[WORKS[0].name]
    cpu = statistics.median(a.cpu / b.cpu for a, b in zip(first[OURS], first[BYTES], strict=True))
    return [*results, Result(f"{version} processor, times bytes only", cpu, CPU_TARGET)]


async def size(setting: Setting, options: argparse.Namespace) -> list[Result]:
    """Whether a call takes as long with 5,000 tools as with 10."""
    ours: list[Endpoint] = []
    for tools in (10, MANY):
        direct = setting.behind(tools)
        await until_good(direct, 60)
        one = setting.sayso(direct.url)
        await until_good(one, 60)
        ours.append(Endpoint(f"{tools} tools", one.url, MODERN, one.pid, one.prefix))
    found = (await compare(ours, WORKS[:1], options.rounds, options.seconds))[WORKS[0].name]
    few, many = (found[one.name] for one in ours)
    times = statistics.median(a.p50 / b.p50 for a, b in zip(many, few, strict=True))
    return [Result(f"a call with {MANY} tools, times one with 10", times, FLAT_TARGET)]


async def life(setting: Setting, options: argparse.Namespace) -> list[Result]:
    """The start, many sessions, and many calls."""
    direct = setting.behind(FEW)
    await until_good(direct)
    starts: list[float] = []
    for _ in range(3 if options.quick else 7):
        with contextlib.ExitStack() as stack:
            inner = Setting(setting.folder, stack)
            starts.append(await until_good(inner.sayso(direct.url)))
    ours = setting.sayso(direct.url)
    await until_good(ours)
    old = Endpoint(ours.name, ours.url, OLD, ours.pid, ours.prefix)
    many = await load(old, Work("sessions", ECHO.tool, 500, ECHO.arguments), calls=2_000)
    held = memory_of(ours.pid)
    soak = Work("soak", ECHO.tool, 8, ECHO.arguments)
    await load(ours, soak, calls=options.soak // 10)
    before = memory_of(ours.pid)
    rest = await load(ours, soak, calls=options.soak - options.soak // 10)
    after = memory_of(ours.pid)
    return [
        Result(
            "first good call, seconds after the start", statistics.median(starts), START_SECONDS
        ),
        Result("MiB with 500 sessions", held, MEMORY_MIB),
        Result("errors with 500 sessions", many.errors, 0),
        Result(f"memory after {options.soak} calls, times after a tenth", after / before, GROWTH),
        Result(f"errors in {options.soak} calls", rest.errors, 0),
    ]


async def measure(folder: Path, options: argparse.Namespace) -> list[Result]:
    """All parts, each with programs of its own."""
    results: list[Result] = []
    for part in (speed, size, life):
        with contextlib.ExitStack() as stack:
            results += await part(Setting(folder, stack), options)
    return results


def main() -> int:
    """Measure, print, and return 1 when a target is missed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--rounds", type=int, default=7, help="how often each is measured")
    parser.add_argument("--seconds", type=float, default=1.0, help="how long each time")
    parser.add_argument("--soak", type=int, default=100_000, help="calls to see memory by")
    parser.add_argument("--quick", action="store_true", help="without the slow ones beside it")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="sayso-bench-") as folder:
        results = uvloop.run(measure(Path(folder), options))
    if options.json:
        told: list[dict[str, Any]] = [
            {"name": one.name, "seen": one.seen, "target": one.target, "is_met": one.is_met}
            for one in results
        ]
        print(json.dumps({"schema": 1, "results": told}, indent=2))
    else:
        print()
        for one in results:
            word = "met" if one.is_met else "MISSED"
            print(f"{one.name:<56}{one.seen:>8.2f}{one.target:>8.2f}  {word}")
    return 0 if all(one.is_met for one in results) else 1


if __name__ == "__main__":
    sys.exit(main())
