"""How many calls one gateway process serves, how long they take, and what they cost.

Gateways with SQLite and with PostgreSQL, each with its defaults and commits that are on disk, stand
before the same server (`behind.py`). They take turns in every round; the median of the rounds
counts. Callers, server, database and gateway share this machine, so that the processor time of
the gateway for a call says more of another machine than the calls per second. Reads are recorded
in groups, each write before it is sent. Nothing here has a target.

Usage: `python bench/capacity.py [--rounds N] [--seconds S] [--json | --markdown]`, with the Python
of `.venv`. It takes about two minutes. `TMPDIR` names the disk of both databases.
"""

import argparse
import base64
import contextlib
import json
import os
import secrets
import statistics
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

import uvloop
from load import Endpoint, Measured, Work, load, memory_of
from setting import ECHO, Setting, until_good

sys.path.insert(0, str(Path(__file__).parents[1]))
from tests.postgres import start_postgres

from sayso.store import read_status

CALLERS: Final = (1, 32, 128)
KINDS: Final = {"read": ECHO.tool, "write": "set_echo"}
TOOLS: Final = 100
SERVERS: Final = 10


@dataclass(frozen=True, slots=True)
class Machine:
    """Where it was measured; `load` is the load average before and after."""

    processor: str
    cores: int
    load: tuple[float, float]


@dataclass(frozen=True, slots=True)
class Row:
    """Medians for one store, kind of call and number of callers."""

    store: str
    kind: str
    callers: int
    calls_per_second: float
    p95_ms: float
    processor_ms: float
    errors: int


@dataclass(frozen=True, slots=True)
class Size:
    """What a gateway with one store takes: bytes per call, MiB with few and with many tools."""

    store: str
    bytes_per_call: float
    few_mib: float
    many_mib: float


@dataclass(slots=True)
class Gateway:
    """A gateway that is measured, and what was measured of it, by kind and callers."""

    store: str
    url: str
    endpoint: Endpoint
    found: dict[tuple[str, int], list[Measured]] = field(
        default_factory=dict[tuple[str, int], list[Measured]]
    )

    async def measure(self, seconds: float, *, is_kept: bool) -> int:
        """Make all kinds of calls with all numbers of callers; return the number of calls."""
        calls = 0
        for kind, tool in KINDS.items():
            for callers in CALLERS:
                work = Work(kind, tool, callers, ECHO.arguments)
                measured = await load(self.endpoint, work, seconds=seconds)
                calls += len(measured.seconds)
                if is_kept:
                    self.found.setdefault((kind, callers), []).append(measured)
        return calls

    def rows(self) -> list[Row]:
        """Return the medians of the rounds."""
        return [
            Row(
                self.store,
                kind,
                callers,
                statistics.median(one.rate for one in measured),
                statistics.median(one.p95 for one in measured) * 1000,
                statistics.median(one.cpu for one in measured) * 1000,
                sum(one.errors for one in measured),
            )
            for (kind, callers), measured in self.found.items()
        ]


async def measure(folder: Path, postgres: Any, options: argparse.Namespace) -> tuple[Any, Any]:
    """Return the rows and the sizes."""
    urls = {"SQLite": f"sqlite:{folder / 'sayso.db'}", "PostgreSQL": postgres.fresh()}
    with contextlib.ExitStack() as stack:
        setting = Setting(folder, stack)
        behind = setting.behind(TOOLS)
        await until_good(behind)
        gateways: list[Gateway] = []
        for name, url in urls.items():
            gateways.append(Gateway(name, url, setting.sayso(behind.url, store=url, name=name)))
            await until_good(gateways[-1].endpoint)
        for gateway in gateways:
            await gateway.measure(options.seconds / 2, is_kept=False)
        before = [read_status(gateway.url).bytes for gateway in gateways]
        calls = [0] * len(gateways)
        for _ in range(options.rounds):
            for index, gateway in enumerate(gateways):
                calls[index] += await gateway.measure(options.seconds, is_kept=True)
        sizes: list[Size] = []
        for index, gateway in enumerate(gateways):
            grown = (read_status(gateway.url).bytes - before[index]) / calls[index]
            few = memory_of(gateway.endpoint.pid)
            many = await _memory_with_many(setting, behind.url, postgres, gateway.store)
            sizes.append(Size(gateway.store, grown, few, many))
        return [row for gateway in gateways for row in gateway.rows()], sizes


async def _memory_with_many(setting: Setting, url: str, postgres: Any, store: str) -> float:
    place = postgres.fresh() if store == "PostgreSQL" else None
    endpoint = setting.sayso(url, store=place, servers=SERVERS)
    await until_good(endpoint)
    await load(endpoint, Work("list", "", 1), calls=3)
    await load(endpoint, Work("many", ECHO.tool, CALLERS[-1], ECHO.arguments), calls=3_000)
    return memory_of(endpoint.pid)


def processor() -> str:
    """Return the name of this machine's processor."""
    for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        name, _, value = line.partition(":")
        if name.strip() == "model name":
            return value.strip()
    return "unknown processor"


def table_of(rows: Sequence[Row], sizes: Sequence[Size]) -> list[list[str]]:
    """Return the table for people, as cells; the first row has the names of the stores."""
    by = {(row.store, row.kind, row.callers): row for row in rows}
    stores = [size.store for size in sizes]
    table = [["", *stores]]
    for kind in KINDS:
        for callers in CALLERS:
            some = [by[store, kind, callers] for store in stores]
            name = f"{kind}s, {callers} {'caller' if callers == 1 else 'callers'}"
            cells = [f"{row.calls_per_second:,.0f}/s, p95 {row.p95_ms:,.0f} ms" for row in some]
            table.append([name, *cells])
    cells = [
        ", ".join(f"{by[store, kind, CALLERS[1]].processor_ms:.1f} ms" for kind in KINDS)
        for store in stores
    ]
    table.append([f"processor time of a {' and a '.join(KINDS)}", *cells])
    table.append(["store, per call", *(f"{size.bytes_per_call / 1000:.1f} kB" for size in sizes)])
    memory = f"memory with {TOOLS} tools of 1 server and {SERVERS * TOOLS:,} of {SERVERS}"
    table.append([memory, *(f"{size.few_mib:.0f}, {size.many_mib:.0f} MiB" for size in sizes)])
    return table


def shown(table: list[list[str]], *, is_markdown: bool) -> str:
    """Return a table as text."""
    if is_markdown:
        table = [table[0], ["---"] * len(table[0]), *table[1:]]
        return "\n".join(f"| {' | '.join(cells)} |" for cells in table)
    widths = [max(len(cell) for cell in column) for column in zip(*table, strict=True)]
    lines = (zip(cells, widths, strict=True) for cells in table)
    return "\n".join("  ".join(cell.ljust(width) for cell, width in line) for line in lines)


def main() -> int:
    """Measure and print; return 1 if a call failed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--rounds", type=int, default=5, help="how often each is measured")
    parser.add_argument("--seconds", type=float, default=1.0, help="how long each time")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print JSON instead of a table")
    form.add_argument("--markdown", action="store_true", help="print a Markdown table")
    options = parser.parse_args()
    os.environ["SAYSO_KEYS"] = base64.b64encode(secrets.token_bytes(32)).decode()
    before = os.getloadavg()[0]
    postgres = start_postgres(is_synced=True)
    try:
        with tempfile.TemporaryDirectory(prefix="sayso-bench-") as folder:
            rows, sizes = uvloop.run(measure(Path(folder), postgres, options))
    finally:
        postgres.remove()
    machine = Machine(processor(), os.cpu_count() or 1, (before, os.getloadavg()[0]))
    if options.json:
        parts = {"rows": [asdict(row) for row in rows], "sizes": [asdict(size) for size in sizes]}
        print(json.dumps({"schema": 1, "machine": asdict(machine), **parts}, indent=2))
    else:
        loads = " and ".join(f"{value:.1f}" for value in machine.load)
        print(f"{machine.processor}, {machine.cores} cores; load {loads} before and after\n")
        print(shown(table_of(rows, sizes), is_markdown=options.markdown))
        for row in rows:
            if row.errors:
                print(f"{row.errors} errors: {row}", file=sys.stderr)
    return int(any(row.errors for row in rows))


if __name__ == "__main__":
    sys.exit(main())
