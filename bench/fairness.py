"""How long one caller waits beside another's hostile requests, for each kind of them.

A real gateway stands before an honest server and a hostile one (`hostile.py`). For each kind the
victim calls the honest server without a pause, in windows that take turns: alone, while another
process sends the hostile request through the gateway again and again, and while that process sends
the same straight to the hostile server. The last is the control: programs that share a processor
wait for each other whatever the gateway does. The worst wait of each window is taken, and the
median over the windows of a kind.

Exits with 1 when a wait beside the requests is more than 100 ms longer than alone, and with 2 when
the control is: the machine is too busy then to tell.

Usage: `python bench/fairness.py [--seconds S] [--rounds N] [--only WORD] [--json]`, with the Python
of `.venv`.
"""

import argparse
import asyncio
import contextlib
import json
import multiprocessing
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncGenerator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import uvloop
from load import Caller, Endpoint, Work
from setting import ECHO, HERE, OURS, SAYSO, Setting, free_port, until_good

if TYPE_CHECKING:
    from multiprocessing.sharedctypes import Synchronized
    from multiprocessing.synchronize import Event

TARGET_MS: Final = 100.0
SETTLE_SECONDS: Final = 0.5
STARTS_SECONDS: Final = 60.0
NOTHING: Final = "nothing"
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
    Kind(NOTHING, ""),
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
    control: float
    requests: int

    @property
    def grown(self) -> float:
        """How much longer it waited."""
        return self.beside - self.alone

    @property
    def is_met(self) -> bool:
        """Whether the promise is kept."""
        return self.grown <= TARGET_MS

    @property
    def is_too_noisy(self) -> bool:
        """Whether the victim waits as long where the gateway sees none of the requests."""
        return self.control - self.alone > TARGET_MS


async def worst_of(victim: Caller, seconds: float) -> float:
    """Call for so long; the longest wait in milliseconds."""
    data, worst, end = victim.request(ECHO), 0.0, time.perf_counter() + seconds
    while time.perf_counter() < end:
        begun = time.perf_counter()
        await victim.ask(data)
        worst = max(worst, (time.perf_counter() - begun) * 1000)
    return worst


async def attack(endpoint: Endpoint, work: Work, sent: "Synchronized[int]", begun: "Event") -> None:
    """Send the hostile request again and again."""
    caller = await Caller.open(endpoint)
    data = caller.request(work).replace(b'"name": "load"', b'"name": "evil"')
    begun.set()
    while True:
        sent.value += 1
        with contextlib.suppress(TimeoutError):
            await caller.ask(data)


def attack_alone(endpoint: Endpoint, work: Work, sent: "Synchronized[int]", begun: "Event") -> None:
    """Attack, in a process that is for nothing else."""
    uvloop.run(attack(endpoint, work, sent, begun))


@contextlib.asynccontextmanager
async def attacking(endpoint: Endpoint, work: Work) -> AsyncGenerator["Synchronized[int]"]:
    """Have another process attack, from its first request on; gives how many it has sent."""
    spawn = multiprocessing.get_context("spawn")
    sent, begun = spawn.Value("q", 0), spawn.Event()
    process = spawn.Process(target=attack_alone, args=(endpoint, work, sent, begun), daemon=True)
    process.start()
    try:
        await asyncio.to_thread(begun.wait, STARTS_SECONDS)
        yield sent
        if not process.is_alive():
            message = f"the attack with {work.name} has ended by itself"
            raise RuntimeError(message)
    finally:
        process.kill()
        process.join()


async def measured(
    gateway: Endpoint, hostile: Endpoint, kind: Kind, options: argparse.Namespace
) -> Seen:
    """The victim alone, beside the hostile requests of one kind, and beside the control."""
    victim, seconds = await Caller.open(gateway), options.seconds
    through = Work(kind.name, f"hostile__{kind.tool}" if kind.tool else "", 1, kind.arguments)
    straight = Work(kind.name, kind.tool, 1, kind.arguments)
    await worst_of(victim, seconds / 4)
    waits: dict[str, list[float]] = {"alone": [], "beside": [], "control": []}
    requests = 0
    for _ in range(options.rounds):
        waits["alone"].append(await worst_of(victim, seconds))
        for name, endpoint, work in (
            ("beside", gateway, through),
            ("control", hostile, straight),
        ):
            if kind.name == NOTHING:
                waits[name].append(await worst_of(victim, seconds))
                continue
            async with attacking(endpoint, work) as sent:
                waits[name].append(await worst_of(victim, seconds))
                requests += sent.value if name == "beside" else 0
            # What is still under way at the gateway belongs to no window.
            await asyncio.sleep(SETTLE_SECONDS)
    await victim.close()
    middle = {name: statistics.median(found) for name, found in waits.items()}
    return Seen(kind.name, **middle, requests=requests)


async def one_of(folder: Path, kind: Kind, options: argparse.Namespace) -> Seen:
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
        line = [SAYSO, "gateway", str(config), "--port", str(listening), "--store", store]
        gateway = setting.start(OURS, line, listening, "behind__")
        await until_good(gateway, 60)
        return await measured(gateway, hostile, kind, options)


async def measure(folder: Path, options: argparse.Namespace) -> list[Seen]:
    """Each kind."""
    found: list[Seen] = []
    for kind in KINDS:
        if options.only in kind.name:
            found.append(await one_of(folder, kind, options))
            if not options.json:
                show(found[-1])
    return found


def show(seen: Seen) -> None:
    """Print a line for people."""
    word = "too noisy" if seen.is_too_noisy else "met" if seen.is_met else "MISSED"
    print(
        f"{seen.name:<27}{seen.alone:>6.0f} ms alone{seen.beside:>6.0f} beside"
        f"{seen.control:>6.0f} control  {word}; {seen.requests} requests",
        flush=True,
    )


def main() -> int:
    """Measure, print, and return 1 when a target is missed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--seconds", type=float, default=2.0, help="how long a window is")
    parser.add_argument("--rounds", type=int, default=3, help="how many windows of each sort")
    parser.add_argument("--only", default="", help="a word in the names of what is measured")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="sayso-bench-") as folder:
        found = uvloop.run(measure(Path(folder), options))
    if options.json:
        told = [
            {**asdict(one), "is_met": one.is_met, "is_too_noisy": one.is_too_noisy} for one in found
        ]
        print(json.dumps({"schema": 1, "results": told}, indent=2))
    if any(one.is_too_noisy for one in found):
        return 2
    return 0 if all(one.is_met for one in found) else 1


if __name__ == "__main__":
    sys.exit(main())
