"""Whether many tools cost no more than few where the gateway lists a few that find the others.

The same gateway is asked in front of a server with 10 tools and one with 5,000, in turn: for its
list, for a search, for a call through a meta-tool and for a direct call. Requests go through the
dispatcher, which every door stands before, so nothing of a transport blurs the ratio; the server
is a real one, over stdio. Also told: what the first search costs, which makes the index. Exits
with 1 when a target is missed.

Usage: `python bench/search.py [--rounds N] [--json]`, with the Python of `.venv`.
"""

import argparse
import json
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncGenerator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

import anyio

from sayso.connect import CommandTarget
from sayso.connect.envelope import MODERN
from sayso.connect.message import read_message
from sayso.gateway import make_dispatcher, open_gateway
from sayso.gateway.frontends.client import Client
from sayso.gateway.frontends.dispatcher import Dispatcher
from sayso.policy import LOCAL, Principal, load_policy
from sayso.store import open_store

SERVER = Path(__file__).resolve().parents[1] / "tests" / "connect" / "servers" / "many.py"
POLICY = load_policy('tools = "search"\npin = ["many__find_needle"]')
FEW, MANY = 10, 5_000
ROUNDS = 30
CALLS = 20

ASKED: Mapping[str, dict[str, Any]] = {
    "list": {"method": "tools/list", "params": {}},
    "search": {
        "method": "tools/call",
        "params": {
            "name": "search_tools",
            "arguments": {"query": "how heavy is the needle", "limit": 1},
        },
    },
    "common words": {
        "method": "tools/call",
        "params": {"name": "search_tools", "arguments": {"query": "weight on the shelf"}},
    },
    "call": {
        "method": "tools/call",
        "params": {
            "name": "call_read_tool",
            "arguments": {"name": "many__find_needle", "arguments": {"item": "x"}},
        },
    },
    "direct call": {
        "method": "tools/call",
        "params": {"name": "many__find_needle", "arguments": {"item": "x"}},
    },
}
TARGETS = {
    "list bytes": 1.0,
    "list": 1.5,
    "search": 1.5,
    "common words": 25.0,
    "call": 1.5,
    "direct call": 1.5,
}


class Result(NamedTuple):
    """One part, with few tools and with many; `target` is the most that their ratio may be."""

    name: str
    few: float
    many: float
    target: float

    @property
    def ratio(self) -> float:
        """How much more it is with many."""
        return self.many / self.few

    @property
    def is_met(self) -> bool:
        """Whether the target is kept."""
        return self.ratio <= self.target


class Silent:
    """A client that hears nothing beside its answers."""

    listener = None

    @property
    def owner(self) -> object:
        """It is one client."""
        return self

    async def notify(self, method: str, params: Mapping[str, Any]) -> None:
        """Tell nobody."""

    def tell(self, method: str, params: Mapping[str, Any]) -> None:
        """Tell nobody."""

    async def ask(self, method: str, params: Mapping[str, Any]) -> Mapping[str, Any]:
        """There is nobody to ask."""
        raise NotImplementedError


@asynccontextmanager
async def desk_over(count: int, folder: Path) -> AsyncGenerator[Dispatcher]:
    """The dispatcher of a gateway in front of a server with so many tools."""
    store = open_store(f"sqlite:{folder / f'{count}.db'}")
    target = CommandTarget("many", sys.executable, (str(SERVER), str(count)))
    async with open_gateway([target], store, policy=lambda: POLICY) as gateway:
        yield make_dispatcher(gateway)
    await store.close()


async def ask(dispatcher: Dispatcher, asked: dict[str, Any]) -> bytes:
    """One answer."""
    message = read_message(json.dumps({"jsonrpc": "2.0", "id": 1, **asked}).encode())
    client = Client(Principal(LOCAL, client="bench"), MODERN)
    told = await dispatcher.answer(message, asked["params"], client, Silent())
    if told.code is not None or b'"isError":true' in told.body:
        raise RuntimeError(f"the request failed: {told.body[:300]!r}")
    return told.body


async def time_of(dispatcher: Dispatcher, asked: dict[str, Any]) -> float:
    """Microseconds for one of several in a row."""
    start = time.perf_counter()
    for _ in range(CALLS):
        await ask(dispatcher, asked)
    return (time.perf_counter() - start) / CALLS * 1e6


async def measure(folder: Path, rounds: int) -> tuple[list[Result], float]:
    """All parts, and the milliseconds of the first search among many."""
    async with AsyncExitStack() as stack:
        desks = [await stack.enter_async_context(desk_over(one, folder)) for one in (FEW, MANY)]
        sizes = [float(len(await ask(one, ASKED["list"]))) for one in desks]
        await ask(desks[0], ASKED["search"])
        start = time.perf_counter()
        await ask(desks[1], ASKED["search"])
        first = (time.perf_counter() - start) * 1e3
        results = [Result("list bytes", sizes[0], sizes[1], TARGETS["list bytes"])]
        for name, asked in ASKED.items():
            times: tuple[list[float], list[float]] = ([], [])
            for number in range(rounds + 1):
                for kept, dispatcher in zip(times, desks, strict=True):
                    once = await time_of(dispatcher, asked)
                    if number:
                        kept.append(once)
            few, many = (statistics.median(one) for one in times)
            results.append(Result(name, few, many, TARGETS[name]))
    return results, first


def show(results: list[Result], first: float) -> None:
    """Print a table for people."""
    print(f"{'':<14}{f'{FEW} tools':>12}{f'{MANY:,} tools':>14}{'ratio':>8}{'target':>8}")
    for one in results:
        word = "met" if one.is_met else "MISSED"
        print(
            f"{one.name:<14}{one.few:>12.0f}{one.many:>14.0f}{one.ratio:>8.2f}"
            f"{one.target:>8.1f}  {word}"
        )
    print(f"Times in microseconds. The first search among {MANY:,} takes {first:.0f} ms.")


def main() -> int:
    """Measure, print, and return 1 when a target is missed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="how often each is measured")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    options = parser.parse_args()
    if options.rounds < 1:
        parser.error("--rounds must be at least 1")
    with tempfile.TemporaryDirectory(prefix="sayso-bench-") as folder:
        results, first = anyio.run(measure, Path(folder), options.rounds)
    if options.json:
        found = [{**one._asdict(), "ratio": one.ratio, "is_met": one.is_met} for one in results]
        print(json.dumps({"schema": 1, "results": found, "first_search_ms": first}, indent=2))
    else:
        show(results, first)
    return 0 if all(one.is_met for one in results) else 1


if __name__ == "__main__":
    sys.exit(main())
