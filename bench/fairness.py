"""How long one caller waits beside another's hostile requests, for each kind of them.

A real gateway stands before an honest server and a hostile one (`hostile.py`). For each kind the
victim calls the honest server without a pause: first alone, then while another caller sends the
hostile request again and again. Worst waits of the same run are compared. Exits with 1 when one of
them grew by more than 100 ms.

Usage: `python bench/fairness.py [--seconds S] [--rounds N] [--only WORD] [--json]`, with the Python
of `.venv`.
"""

import argparse
import asyncio
import contextlib
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import uvloop
from load import Caller, Endpoint, Work
from setting import AVOW, ECHO, HERE, OURS, Setting, free_port, until_good

TARGET_MS: Final = 100.0
TOOLS_OF_A_LONG_LIST: Final = 30_000
ITEMS: Final = 900_000
BYTES: Final = 4_000_000


def nested(depth: int) -> dict[str, Any]:
    """A filter that does not fit, whose problems are too many to list."""
    found: dict[str, Any] = {"field": "name", "op": "x"}
    for _ in range(depth):
        found = {"and": [found], "or": [found]}
    return {"filter": found}


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of hostile request; `tools` is how long the hostile server's list is."""

    name: str
    tool: str
    arguments: Mapping[str, Any] = field(default_factory=dict[str, Any])
    tools: int = 0


KINDS: Final = [
    Kind("nothing", ""),
    Kind("a recursive filter", "get_filtered", nested(4)),
    Kind("a deeper filter", "get_filtered", nested(12)),
    Kind("a doubling schema", "get_doubled"),
    Kind("3 MB that does not fit", "get_flat", {"items": [1] * 1_000_000}),
    Kind("4 MB of unique items", "get_unique", {"items": list(range(BYTES // 10))}),
    Kind("eyJ. times a million", "get_any", {"text": "eyJ." * (BYTES // 4 - 1000)}),
    Kind("the same, asked about", "delete_any", {"text": "eyJ." * (BYTES // 4 - 1000)}),
    Kind("900,000 items, asked about", "delete_any", {"items": [1] * ITEMS}),
    Kind("10 MB of text", "get_text"),
    Kind("10 MB of JSON", "get_json"),
    Kind("10 MB with a schema", "get_rows"),
    Kind("a list of 30,000 tools", "", tools=TOOLS_OF_A_LONG_LIST),
]


@dataclass(frozen=True, slots=True)
class Seen:
    """Worst waits of the victim for one kind, in milliseconds."""

    name: str
    alone: float
    beside: float
    requests: int

    @property
    def grown(self) -> float:
        """How much longer it waited."""
        return self.beside - self.alone

    @property
    def is_met(self) -> bool:
        """Whether the promise is kept."""
        return self.grown <= TARGET_MS


async def worst_of(victim: Caller, seconds: float) -> float:
    """Call for so long; the longest wait in milliseconds."""
    data, worst, end = victim.request(ECHO), 0.0, time.perf_counter() + seconds
    while time.perf_counter() < end:
        begun = time.perf_counter()
        await victim.ask(data)
        worst = max(worst, (time.perf_counter() - begun) * 1000)
    return worst


async def attack(caller: Caller, data: bytes, sent: list[int]) -> None:
    """Send the hostile request again and again."""
    while True:
        with contextlib.suppress(TimeoutError):
            sent[0] += 1
            await caller.ask(data)


async def measured(gateway: Endpoint, kind: Kind, seconds: float) -> Seen:
    """The victim alone, and beside the hostile requests of one kind."""
    victim, attacker = await Caller.open(gateway), await Caller.open(gateway)
    name = f"hostile__{kind.tool}" if kind.tool else ""
    attacker.endpoint = Endpoint(gateway.name, gateway.url, gateway.version, gateway.pid)
    # Made before anything is measured: it takes this process as long as reading takes the other.
    data = attacker.request(Work(kind.name, name, 1, kind.arguments))
    data = data.replace(b'"name": "load"', b'"name": "evil"')
    await worst_of(victim, seconds / 4)
    alone = await worst_of(victim, seconds)
    sent = [0]
    attacking = asyncio.ensure_future(attack(attacker, data, sent))
    if kind.name == "nothing":
        attacking.cancel()
    beside = await worst_of(victim, seconds)
    attacking.cancel()
    await asyncio.gather(attacking, return_exceptions=True)
    await victim.close()
    return Seen(kind.name, alone, beside, sent[0])


async def one_of(folder: Path, kind: Kind, seconds: float) -> Seen:
    """One kind, before programs of its own."""
    with contextlib.ExitStack() as stack:
        setting = Setting(folder, stack)
        behind = setting.behind(10)
        port = free_port()
        words = [sys.executable, str(HERE / "hostile.py"), str(port), str(kind.tools)]
        hostile = setting.start("hostile", words, port)
        await until_good(behind, 60)
        listening, config = free_port(), folder / f"{port}.json"
        servers = {"behind": {"url": behind.url}, "hostile": {"url": hostile.url}}
        config.write_text(json.dumps({"mcpServers": servers}), encoding="utf-8")
        store = f"sqlite:{folder / f'{listening}.db'}"
        line = [AVOW, "gateway", str(config), "--port", str(listening), "--store", store]
        gateway = setting.start(OURS, line, listening, "behind__")
        await until_good(gateway, 60)
        return await measured(gateway, kind, seconds)


async def measure(folder: Path, options: argparse.Namespace) -> list[Seen]:
    """Each kind; the middle one of several rounds by how much longer the victim waited."""
    found: list[Seen] = []
    for kind in KINDS:
        if options.only in kind.name:
            rounds = [await one_of(folder, kind, options.seconds) for _ in range(options.rounds)]
            middle = statistics.median_low([one.grown for one in rounds])
            found.append(next(one for one in rounds if one.grown == middle))
            if not options.json:
                show(found[-1])
    return found


def show(seen: Seen) -> None:
    """Print a line for people."""
    word = "met" if seen.is_met else "MISSED"
    print(
        f"{seen.name:<28}{seen.alone:>9.1f} ms alone{seen.beside:>9.1f} ms beside"
        f"{seen.grown:>+9.1f} ms  (at most {TARGET_MS:.0f})  {word}; {seen.requests} requests",
        flush=True,
    )


def main() -> int:
    """Measure, print, and return 1 when a target is missed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--seconds", type=float, default=4.0, help="how long the victim calls")
    parser.add_argument("--rounds", type=int, default=1, help="how often each is measured")
    parser.add_argument("--only", default="", help="a word in the names of what is measured")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="avow-bench-") as folder:
        found = uvloop.run(measure(Path(folder), options))
    if options.json:
        told = [
            {"name": one.name, "alone": one.alone, "beside": one.beside, "is_met": one.is_met}
            for one in found
        ]
        print(json.dumps({"schema": 1, "results": told}, indent=2))
    return 0 if all(one.is_met for one in found) else 1


if __name__ == "__main__":
    sys.exit(main())
