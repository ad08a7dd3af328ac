"""What `sayso.bind` costs a server, against the same server without it, in one interleaved run.

The same typed functions are served by `MCPServer` and by FastMCP, bare and bound, in memory and
over stdio. A bound call goes through every step, with a real SQLite file: what reads is recorded
with the next group, what writes is on disk before the function runs. Rounds alternate between
bare and bound; medians are compared. The start is that of a process with 100 tools, from its
beginning until it has listed them. Exits with 1 when a target is missed.

Usage: `python bench/serve.py [--rounds N] [--starts N] [--json]`, with the Python of `.venv`.
"""

import argparse
import json
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

import anyio
from mcp import Client, StdioServerParameters

CALL_TARGET = 1.3
START_TARGET = 1.1
ROUNDS = 30
CALLS = 20
STARTS = 9
TOOLS = 100
FRAMEWORKS = ("MCPServer", "FastMCP")
WAYS = ("memory", "stdio")

Once = Callable[[], Awaitable[object]]


class Result(NamedTuple):
    """Medians in microseconds, and how many times the bare one the bound one takes."""

    name: str
    bare_us: float
    bound_us: float
    target: float

    @property
    def ratio(self) -> float:
        """Bound over bare."""
        return self.bound_us / self.bare_us

    @property
    def is_met(self) -> bool:
        """Whether the target is kept."""
        return self.ratio <= self.target


def get_echo(text: str) -> str:
    """Give back the text."""
    return text


def add_echo(text: str) -> str:
    """Give back the text, and be taken for a write."""
    return text


def make_server(framework: str, *, store: str = "", extra: int = 0) -> Any:
    """A server with one tool that reads, one that writes, and `extra` more; bound with a store."""
    if framework == "FastMCP":
        from fastmcp import FastMCP  # noqa: PLC0415 - only the one that is measured is imported

        server: Any = FastMCP("echo")
    else:
        from mcp.server import MCPServer  # noqa: PLC0415 - as above

        server = MCPServer("echo", log_level="ERROR")
    if store:
        _bound(server, store, extra)
    else:
        for name, function in _functions(extra).items():
            hints = {"readOnlyHint": function is get_echo, "openWorldHint": False}
            server.tool(name=name, annotations={**hints, "destructiveHint": False})(function)
    return server


def _bound(server: Any, store: str, extra: int) -> None:
    import sayso  # noqa: PLC0415 - the bare server must not pay for it

    tools = sayso.bind(server, store=store, principal=sayso.Principal("bench"))
    for name, function in _functions(extra).items():
        intent = sayso.READ_ONLY if function is get_echo else sayso.APPEND
        tools.tool(intent, name=name)(function)


def _functions(extra: int) -> dict[str, Callable[[str], str]]:
    more = {f"get_echo_{number}": get_echo for number in range(extra)}
    return {"get_echo": get_echo, "add_echo": add_echo, **more}


def _target(framework: str, way: str, store: str, extra: int = 0) -> Any:
    if way == "memory":
        server = make_server(framework, store=store, extra=extra)
        return getattr(server, "_mcp_server", server)
    words = [__file__, "--serve", framework, "--store", store, "--extra", str(extra)]
    env = {"FASTMCP_SHOW_SERVER_BANNER": "false", "FASTMCP_LOG_LEVEL": "ERROR"}
    return StdioServerParameters(command=sys.executable, args=words, env=env)


@asynccontextmanager
async def connected(
    framework: str, way: str, folder: Path
) -> AsyncGenerator[dict[str, tuple[Once, Once]]]:
    """The calls of one framework over one way: bare and bound, by what they do."""
    async with AsyncExitStack() as stack:
        calls: list[dict[str, Once]] = []
        for store in ("", f"sqlite:{folder / f'{framework}-{way}.db'}"):
            client = await stack.enter_async_context(Client(_target(framework, way, store)))
            await client.list_tools()
            calls.append({name: _call(client, name) for name in ("get_echo", "add_echo")})
        bare, bound = calls
        yield {name: (bare[name], bound[name]) for name in bare}


def _call(client: Client, name: str) -> Once:
    async def once() -> object:
        answer = await client.call_tool(name, {"text": "hello"})
        if answer.is_error:
            raise RuntimeError(f"the call failed: {answer}")
        return answer

    return once


async def time_of(once: Once) -> float:
    """Seconds for one of several in a row."""
    start = time.perf_counter()
    for _ in range(CALLS):
        await once()
    return (time.perf_counter() - start) / CALLS


async def compare(pairs: dict[str, tuple[Once, Once]], rounds: int) -> dict[str, list[float]]:
    """Medians of both in turn, after one round that only warms up."""
    found: dict[str, tuple[list[float], list[float]]] = {name: ([], []) for name in pairs}
    for number in range(rounds + 1):
        for name, ways in pairs.items():
            for times, once in zip(found[name], ways, strict=True):
                seconds = await time_of(once)
                if number:
                    times.append(seconds)
    return {name: [statistics.median(one) for one in both] for name, both in found.items()}


async def start_of(framework: str, store: str) -> float:
    """Seconds from the beginning of a process until its tools are listed."""
    start = time.perf_counter()
    async with Client(_target(framework, "stdio", store, TOOLS)) as client:
        await client.list_tools()
        return time.perf_counter() - start


async def measure(folder: Path, rounds: int, starts: int) -> list[Result]:
    """All parts."""
    results: list[Result] = []
    for framework in FRAMEWORKS:
        for way in WAYS:
            async with connected(framework, way, folder) as pairs:
                for name, (bare, bound) in (await compare(pairs, rounds)).items():
                    what = f"{framework} {way} {'read' if name == 'get_echo' else 'write'}"
                    results.append(Result(what, bare * 1e6, bound * 1e6, CALL_TARGET))
        times: tuple[list[float], list[float]] = ([], [])
        for number in range(starts):
            stores = ("", f"sqlite:{folder / f'{framework}-start-{number}.db'}")
            for one, store in zip(times, stores, strict=True):
                one.append(await start_of(framework, store))
        bare, bound = (statistics.median(one) * 1e6 for one in times)
        results.append(Result(f"{framework} start, {TOOLS} tools", bare, bound, START_TARGET))
    return results


def show(results: list[Result]) -> None:
    """Print a table for people."""
    print(f"{'':<28}{'bare us':>11}{'bound us':>11}{'ratio':>8}{'target':>8}")
    for one in results:
        word = "met" if one.is_met else "MISSED"
        print(
            f"{one.name:<28}{one.bare_us:>11.0f}{one.bound_us:>11.0f}"
            f"{one.ratio:>8.2f}{one.target:>8.1f}  {word}"
        )


def main() -> int:
    """Measure, print, and return 1 when a target is missed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="how often each is measured")
    parser.add_argument("--starts", type=int, default=STARTS, help="how often each is started")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    for name in ("--serve", "--store", "--extra"):
        parser.add_argument(name, default="", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        make_server(options.serve, store=options.store, extra=int(options.extra)).run()
        return 0
    if min(options.rounds, options.starts) < 1:
        parser.error("--rounds and --starts must be at least 1")
    with tempfile.TemporaryDirectory(prefix="sayso-bench-") as folder:
        results = anyio.run(measure, Path(folder), options.rounds, options.starts)
    if options.json:
        found = [{**one._asdict(), "ratio": one.ratio, "is_met": one.is_met} for one in results]
        print(json.dumps({"schema": 1, "results": found}, indent=2))
    else:
        show(results)
    return 0 if all(one.is_met for one in results) else 1


if __name__ == "__main__":
    sys.exit(main())
