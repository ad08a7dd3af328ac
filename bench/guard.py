"""What the guard costs, against the bare in-memory call of the SDK, and whether memory stays flat.

The yardstick is one call of an echo tool through the SDK's client on an in-memory server. The
guarded call is the same call through every step: policy, validation, history, audit in a chain, on
disk in a real SQLite file, output checked. Rounds alternate in one run; medians are compared. Then
many calls go through one guard, and what the process holds at the end is compared with what it
held after the first tenth. Exits with 1 when a target is missed.

Usage: `python bench/guard.py [--rounds N] [--calls N] [--json]`, with the Python of `.venv`.
"""

import argparse
import gc
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, NamedTuple

import anyio
from mcp import Client
from mcp.server import MCPServer
from mcp_types import ToolAnnotations

from sayso.approvals import Approvals
from sayso.audit import open_audit
from sayso.catalog import Tool, make_tool
from sayso.guard import Answer, Call, Guard
from sayso.keys import load_keys
from sayso.policy import LOCAL, Principal
from sayso.store import open_store

TARGET = 2.0
GROWTH = 1.1
ROUNDS = 30
CALLS = 20
MANY = 100_000
LEAST = 10
AMY = Principal(LOCAL, client="bench")

Once = Callable[[], Awaitable[object]]


class Result(NamedTuple):
    """Medians in microseconds and their ratio to the bare call; `target` where there is one."""

    name: str
    us: float
    ratio: float
    target: float | None

    @property
    def is_met(self) -> bool:
        """Whether the target, if there is one, is kept."""
        return self.target is None or self.ratio <= self.target


class Memory(NamedTuple):
    """What the process held, in MB, after a tenth of the calls and after all of them."""

    calls: int
    early_mb: float
    late_mb: float

    @property
    def is_met(self) -> bool:
        """Whether memory is flat: a tenth more at most."""
        return self.late_mb <= self.early_mb * GROWTH


def make_server() -> MCPServer:
    """A server with one tool that reads and one that writes."""
    server = MCPServer("echo", log_level="ERROR")

    @server.tool(annotations=ToolAnnotations(read_only_hint=True, open_world_hint=False))
    def get_echo(text: str) -> str:  # pyright: ignore[reportUnusedFunction] - the server calls it
        return text

    @server.tool(annotations=ToolAnnotations(destructive_hint=False, open_world_hint=False))
    def add_echo(text: str) -> str:  # pyright: ignore[reportUnusedFunction] - as above
        return text

    return server


async def find_tools(client: Client) -> dict[str, Tool]:
    """The tools as they are listed."""
    listed = await client.list_tools()
    raws = [one.model_dump(mode="json", by_alias=True, exclude_none=True) for one in listed.tools]
    return {raw["name"]: make_tool("echo", raw) for raw in raws}


def make_guard(client: Client, tools: dict[str, Tool], store: Any, audit: Any) -> Guard:
    """A guard before the in-memory server."""

    async def find(name: str, _principal: object, /, *, is_fresh: bool = False) -> Tool | None:
        del is_fresh
        return tools.get(name)

    async def run(call: Call) -> Answer:
        call.is_sent = True
        result = await client.call_tool(call.name, dict(call.arguments))
        return result.model_dump(mode="json", by_alias=True, exclude_none=True)

    return Guard(find, run, Approvals.of(store), audit, store.claims)


async def time_of(once: Once) -> float:
    """Seconds for one of several in a row."""
    start = time.perf_counter()
    for _ in range(CALLS):
        await once()
    return (time.perf_counter() - start) / CALLS


async def compare(guard: Guard, client: Client, rounds: int) -> list[Result]:
    """All ways in turn, after one round that only warms up."""
    ways: dict[str, tuple[Once, float | None]] = {
        "bare call": (lambda: client.call_tool("get_echo", {"text": "hello"}), None),
        "guarded read": (lambda: guard.call(AMY, "get_echo", {"text": "hello"}), TARGET),
        "guarded write": (lambda: guard.call(AMY, "add_echo", {"text": "hello"}), None),
    }
    found: dict[str, list[float]] = {name: [] for name in ways}
    for number in range(rounds + 1):
        for name, (once, _) in ways.items():
            seconds = await time_of(once)
            if number:
                found[name].append(seconds)
    medians = {name: statistics.median(times) for name, times in found.items()}
    bare = medians["bare call"]
    return [
        Result(name, seconds * 1e6, seconds / bare, ways[name][1])
        for name, seconds in medians.items()
    ]


async def hold(guard: Guard, calls: int) -> Memory:
    """Many calls through one guard; each with other arguments, as real ones have."""
    early = 0.0
    for number in range(calls):
        if number == calls // 10:
            early = held_mb()
        await guard.call(AMY, "get_echo", {"text": f"number {number}"})
        if number % 10_000 == 0 and sys.stderr.isatty():
            print(f"\r{number:,} of {calls:,} calls", end="", file=sys.stderr)
    return Memory(calls, early, held_mb())


def held_mb() -> float:
    """What the process holds of memory now (proc(5), statm)."""
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096 / 1e6


async def measure(folder: Path, rounds: int, calls: int) -> tuple[list[Result], Memory]:
    """Both parts."""
    store = open_store(f"sqlite:{folder / 'sayso.db'}")
    keys = load_keys(folder / "sayso.db", is_made=True)
    async with Client(make_server()) as client, open_audit(store, keys) as audit:
        guard = make_guard(client, await find_tools(client), store, audit)
        answer = await guard.call(AMY, "get_echo", {"text": "hello"})
        if answer.get("isError"):
            raise RuntimeError(f"the guarded call failed: {answer}")
        results = await compare(guard, client, rounds)
        memory = await hold(guard, calls)
    await store.close()
    return results, memory


def show(results: list[Result], memory: Memory) -> None:
    """Print a table for people."""
    print(f"{'way':<16}{'us':>10}{'x bare':>10}{'target':>10}")
    for one in results:
        target = "" if one.target is None else f"{one.target:.1f}"
        word = "" if one.target is None else ("  met" if one.is_met else "  MISSED")
        print(f"{one.name:<16}{one.us:>10.1f}{one.ratio:>10.2f}{target:>10}{word}")
    word = "met" if memory.is_met else "MISSED"
    print(
        f"memory over {memory.calls:,} calls: {memory.early_mb:.1f} MB after a tenth, "
        f"{memory.late_mb:.1f} MB at the end, at most {GROWTH} x: {word}"
    )


def main() -> int:
    """Measure, print, and return 1 when a target is missed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="how often each is measured")
    parser.add_argument("--calls", type=int, default=MANY, help="how many calls for the memory")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    options = parser.parse_args()
    if options.rounds < 1 or options.calls < LEAST:
        parser.error(f"--rounds must be at least 1, and --calls at least {LEAST}")
    with tempfile.TemporaryDirectory(prefix="sayso-bench-") as folder:
        results, memory = anyio.run(measure, Path(folder), options.rounds, options.calls)
    if options.json:
        found = [{**one._asdict(), "is_met": one.is_met} for one in results]
        held = {**memory._asdict(), "is_met": memory.is_met}
        print(json.dumps({"schema": 1, "results": found, "memory": held}, indent=2))
    else:
        show(results, memory)
    return 0 if memory.is_met and all(one.is_met for one in results) else 1


if __name__ == "__main__":
    sys.exit(main())
