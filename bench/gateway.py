"""What the gateway costs a call, against the direct connection, in one interleaved run.

Beside it in the same rounds: a proxy that only forwards bytes, FastMCP's proxy, and mcp-proxy. All
stand before the same server (`behind.py`); avow with everything on that is on by default. Rounds go
over all endpoints in turn, in an order that changes, and ratios are taken round by round. The
processor's time is that of the endpoint's own processes. Exits with 1 when a target is missed.

Usage: `python bench/gateway.py [--rounds N] [--seconds S] [--soak N] [--quick] [--json]`, with the
Python of `.venv`.
"""

import argparse
import asyncio
import contextlib
import json
import random
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import uvloop
from load import MODERN, OLD, Caller, Endpoint, Measured, Work, load, memory_of

HERE = Path(__file__).parent
AVOW = str(Path(sys.executable).with_name("avow"))
FASTMCP = "from fastmcp.server import create_proxy; create_proxy({url!r}).run('http', port={port})"
NAME = "behind"
FEW, MANY = 100, 5_000

ECHO = {"text": "hello"}
WORKS = [
    Work("call, 1 caller", "get_echo", 1, ECHO),
    Work("call, 8 callers", "get_echo", 8, ECHO),
    Work("call, 32 callers", "get_echo", 32, ECHO),
    Work("call, 128 callers", "get_echo", 128, ECHO),
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


def free_port() -> int:
    """A port that nobody listens on just now."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


@contextlib.contextmanager
def started(words: Sequence[str], cwd: Path) -> Generator[int]:
    """A program, by the number of its process; it ends when this is left."""
    quiet = subprocess.DEVNULL
    with subprocess.Popen(words, stdout=quiet, stderr=quiet, cwd=cwd) as process:
        try:
            yield process.pid
        finally:
            process.send_signal(signal.SIGTERM)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(10)
            process.kill()


async def until_good(endpoint: Endpoint, seconds: float = 30.0) -> float:
    """Wait for the first good call; seconds until then."""
    start = time.perf_counter()
    while True:
        with contextlib.suppress(OSError, TimeoutError):
            caller = await Caller.open(endpoint)
            is_good = await caller.ask(caller.request(WORKS[0]))
            await caller.close()
            if is_good:
                return time.perf_counter() - start
        if time.perf_counter() - start > seconds:
            message = f"{endpoint.name} gives no good answer"
            raise RuntimeError(message)
        await asyncio.sleep(0.01)


class Setting:
    """The programs of a run, in a folder of their own."""

    def __init__(self, folder: Path, stack: contextlib.ExitStack) -> None:
        self.folder, self.stack = folder, stack

    def start(self, name: str, words: Sequence[str], port: int, prefix: str = "") -> Endpoint:
        """Start an endpoint."""
        pid = self.stack.enter_context(started(words, self.folder))
        return Endpoint(name, f"http://127.0.0.1:{port}/mcp", MODERN, pid, prefix)

    def behind(self, tools: int) -> Endpoint:
        """The server that all stand before."""
        port = free_port()
        words = [sys.executable, str(HERE / "behind.py"), str(port), str(tools)]
        return self.start("direct", words, port)

    def avow(self, url: str) -> Endpoint:
        """The gateway, as it is by default."""
        port = free_port()
        config = self.folder / f"{port}.json"
        config.write_text(json.dumps({"mcpServers": {NAME: {"url": url}}}), encoding="utf-8")
        store = f"sqlite:{self.folder / f'{port}.db'}"
        words = [AVOW, "gateway", str(config), "--port", str(port), "--store", store]
        return self.start("avow", words, port, f"{NAME}__")

    def forward(self, url: str) -> Endpoint:
        """A proxy that forwards bytes."""
        port = free_port()
        return self.start(
            "bytes only", [sys.executable, str(HERE / "forward.py"), str(port), url], port
        )

    def fastmcp(self, url: str) -> Endpoint:
        """FastMCP's own proxy."""
        port = free_port()
        program = FASTMCP.format(url=url, port=port)
        return self.start("FastMCP proxy", [sys.executable, "-c", program], port)


async def compare(
    endpoints: Sequence[Endpoint], works: Sequence[Work], rounds: int, seconds: float
) -> dict[str, dict[str, list[Measured]]]:
    """All works on all endpoints in turn, after one round that only warms up."""
    found: dict[str, dict[str, list[Measured]]] = {
        work.name: {one.name: [] for one in endpoints} for work in works
    }
    for number in range(rounds + 1):
        for work in works:
            for one in random.sample(endpoints, len(endpoints)):
                measured = await load(one, work, seconds=seconds if number else seconds / 2)
                if number:
                    found[work.name][one.name].append(measured)
    return found


def ratio(work: Work, measured: Sequence[Measured], base: Sequence[Measured]) -> float:
    """How many times the direct connection it takes; for many callers, of the time for all."""
    if work.callers == 1:
        return statistics.median(a.p50 / b.p50 for a, b in zip(measured, base, strict=True))
    return statistics.median(b.rate / a.rate for a, b in zip(measured, base, strict=True))


def show(
    title: str,
    endpoints: Sequence[Endpoint],
    works: Sequence[Work],
    found: dict[str, dict[str, list[Measured]]],
) -> None:
    """Print a table for people."""
    print(f"\n{title}: times the direct connection (processor ms for a call; errors)")
    print(f"{'':<22}" + "".join(f"{one.name:>24}" for one in endpoints))
    for work in works:
        cells: list[str] = []
        for one in endpoints:
            measured = found[work.name][one.name]
            times = ratio(work, measured, found[work.name]["direct"])
            cpu = statistics.median(each.cpu for each in measured) * 1000
            errors = sum(each.errors for each in measured)
            cells.append(f"{times:.2f} ({cpu:.2f}; {errors})")
        print(f"{work.name:<22}" + "".join(f"{cell:>24}" for cell in cells))


async def speed(setting: Setting, options: argparse.Namespace) -> list[Result]:
    """Both versions of the protocol, beside the others."""
    direct = setting.behind(FEW)
    await until_good(direct)
    ours, bare = setting.avow(direct.url), setting.forward(direct.url)
    endpoints = [direct, bare, ours] + ([] if options.quick else [setting.fastmcp(direct.url)])
    for one in endpoints:
        await until_good(one)
    results: list[Result] = []
    for version in (MODERN, OLD):
        spoken = [
            Endpoint(one.name, one.url, version, one.pid, one.prefix)
            for one in endpoints
            # A session of the old protocol through it costs seconds a call.
            if version == MODERN or one.name != "FastMCP proxy"
        ]
        found = await compare(spoken, WORKS, options.rounds, options.seconds)
        if not options.json:
            show(version, spoken, WORKS, found)
        results += _judged(version, found)
    return results


def _judged(version: str, found: dict[str, dict[str, list[Measured]]]) -> list[Result]:
    results: list[Result] = []
    for work in WORKS:
        ours, direct = found[work.name]["avow"], found[work.name]["direct"]
        name = f"{version} {work.name}"
        results.append(Result(name, ratio(work, ours, direct), TARGETS[work.name]))
        results.append(Result(f"{name}: errors", sum(one.errors for one in ours), 0))
    first = found[WORKS[0].name]
    cpu = statistics.median(
        a.cpu / b.cpu for a, b in zip(first["avow"], first["bytes only"], strict=True)
    )
    return [*results, Result(f"{version} processor, times bytes only", cpu, CPU_TARGET)]


async def size(setting: Setting, options: argparse.Namespace) -> list[Result]:
    """Whether a call takes as long with 5,000 tools as with 10."""
    ours: list[Endpoint] = []
    for tools in (10, MANY):
        direct = setting.behind(tools)
        await until_good(direct, 60)
        one = setting.avow(direct.url)
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
            starts.append(await until_good(inner.avow(direct.url)))
    ours = setting.avow(direct.url)
    await until_good(ours)
    old = Endpoint(ours.name, ours.url, OLD, ours.pid, ours.prefix)
    many = await load(old, Work("sessions", "get_echo", 500, ECHO), calls=2_000)
    held = memory_of(ours.pid)
    soak = Work("soak", "get_echo", 8, ECHO)
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
    with tempfile.TemporaryDirectory(prefix="avow-bench-") as folder:
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
