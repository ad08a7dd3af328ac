"""How many lies `sayso verify` finds, whom it accuses wrongly, and what watching costs.

The tools stand in `bench/liars`, in Python and JavaScript; who lies, and of what, is in
`expected.py` there, which no server reads. A lie is found where that hint is refuted; whoever is
refuted on a hint that is true, is accused wrongly, liar or not. Beside it: what a call costs under
the tracer, with the same server without it as the baseline of the same run. Exits with 1 when a
target is missed.

Usage: `python bench/verify.py [--only NAME] [--json]`, with the Python of `.venv`.
"""

import argparse
import contextlib
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import anyio

from sayso.connect import CommandTarget
from sayso.connect.link import Link, open_link
from sayso.sandbox.box import open_box
from sayso.sandbox.probe import probe_layers
from sayso.sandbox.spec import Layer, SandboxSpec

HERE = Path(__file__).parent
LIARS = HERE / "liars"
sys.path.insert(0, str(LIARS))

from expected import LIES  # noqa: E402 - it stands beside the servers
from kept import make_kept  # noqa: E402 - it stands beside the servers

SAYSO = Path(sys.executable).with_name("sayso")
SCRIPT = HERE.parent / "tests" / "npm" / "liars.mjs"
"""Beside the modules that it imports."""
MOST_SECONDS = 180.0
"""For a server of twelve tools; those here have more, and so get more."""
TWELVE = 12
MOST_TRACED = 2.0
"""How much longer a call may take under the tracer."""
CALLS, ROUNDS = 60, 5


@dataclass
class Score:
    """What became of one server."""

    server: str
    tools: int
    seconds: float
    found: list[str] = field(default_factory=list[str])
    missed: list[str] = field(default_factory=list[str])
    accused: list[str] = field(default_factory=list[str])
    silent: list[str] = field(default_factory=list[str])
    """Tools of which no call succeeded."""

    @property
    def is_slow(self) -> bool:
        """Whether it took longer than a server of so many tools may."""
        return self.seconds > MOST_SECONDS * max(1.0, self.tools / TWELVE)


def command(server: str) -> list[str]:
    """How a server of the folder is started."""
    if server == "script":
        return ["node", str(SCRIPT)]
    return [sys.executable, str(LIARS / f"{server}.py")]


def verify(server: str, kept: Path) -> dict[str, Any]:
    """The JSON report on one server. Raises where there is none."""
    words = [str(SAYSO), "verify", "--json", "--fixture", str(kept), "--env", f"KEPT={kept}"]
    done = subprocess.run(
        [*words, "--", *command(server)], capture_output=True, text=True, check=False
    )
    if done.returncode not in (0, 1):
        raise RuntimeError(done.stderr)
    return json.loads(done.stdout)


def score(server: str) -> Score:
    """Verify one server, and hold what is said against what is true."""
    lies = LIES[server]
    with tempfile.TemporaryDirectory() as folder:
        kept = Path(folder) / "kept"
        kept.mkdir()
        make_kept(kept)
        start = time.perf_counter()
        report = verify(server, kept)
        seconds = time.perf_counter() - start
    made = Score(server, len(report["tools"]), seconds)
    for tool in report["tools"]:
        name = tool["name"]
        refuted = {hint for hint, one in tool["hints"].items() if one["verdict"] == "refuted"}
        if lie := lies.get(name):
            (made.found if lie in refuted else made.missed).append(name)
        made.accused += [f"{name}: {hint}" for hint in refuted if hint != lies.get(name)]
        if not tool["reach"]["successes"]:
            made.silent.append(name)
    made.missed += sorted(set(lies) - {tool["name"] for tool in report["tools"]})
    return made


async def traced(tool: str) -> float:
    """How much longer a call of one tool takes under the tracer than in the same box without."""
    layers = await probe_layers()
    bare = [replace(one, is_active=one.is_active and one.name != "syscalls") for one in layers]
    with tempfile.TemporaryDirectory() as folder:
        kept = Path(folder) / "kept"
        kept.mkdir()
        make_kept(kept)
        wish = SandboxSpec(tuple(command("honest")), {"KEPT": str(kept)}, fixtures=(kept,))
        times: dict[int, list[float]] = {0: [], 1: []}
        async with opened(wish, bare) as without, opened(wish, layers) as watched:
            for _ in range(ROUNDS):
                for at, link in enumerate((without, watched)):
                    times[at] += [await timed(link, tool) for _ in range(CALLS)]
    return statistics.median(times[1]) / statistics.median(times[0])


@contextlib.asynccontextmanager
async def opened(wish: SandboxSpec, layers: Sequence[Layer]) -> AsyncGenerator[Link]:
    """A connection to a server in a box."""
    async with open_box(wish, layers) as box:
        target = CommandTarget("honest", box.command[0], box.command[1:], box.env, box.cwd)
        async with open_link(target, timeout=60) as link:
            yield link


async def timed(link: Link, tool: str) -> float:
    """Seconds of one call."""
    start = time.perf_counter()
    await link.request("tools/call", {"name": tool, "arguments": {}}, timeout=60)
    return time.perf_counter() - start


def show(one: Score) -> None:
    """One server in a few lines."""
    lies = len(one.found) + len(one.missed)
    seconds = one.seconds * TWELVE / one.tools
    print(
        f"{one.server:11} {one.tools:3} tools  {len(one.found):2} of {lies:2} lies found"
        f"  {len(one.accused)} accused wrongly  {one.seconds:6.1f} s"
        f" ({seconds:.0f} s for twelve tools)"
    )
    for what, names in (("missed", one.missed), ("accused wrongly", one.accused)):
        if names:
            print(f"            {what}: {', '.join(names)}")


def total(scores: Sequence[Score]) -> str:
    """All servers in one line."""
    found = sum(len(one.found) for one in scores)
    lies = found + sum(len(one.missed) for one in scores)
    honest = sum(one.tools for one in scores) - lies
    accused = sum(len(one.accused) for one in scores)
    return (
        f"verify: {found} of {lies} lies found; {accused} wrong accusations, of {honest} honest "
        f"tools and of what the others say truly"
    )


def main() -> int:
    """Measure all, or one; 1 where a target is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=sorted(LIES))
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    if shutil.which("bwrap") is None or shutil.which("strace") is None:
        print("verify: bubblewrap and strace are needed; nothing was measured", file=sys.stderr)
        return 1
    scores: list[Score] = []
    for server in [given.only] if given.only else LIES:
        scores.append(score(server))
        if not given.json:
            show(scores[-1])
    ratios = {tool: anyio.run(traced, tool) for tool in ("get_counter", "get_size", "add_event")}
    if given.json:
        print(json.dumps({"servers": [vars(one) for one in scores], "traced": ratios}))
    else:
        print(total(scores))
        for tool, ratio in ratios.items():
            print(f"traced: {tool} takes {ratio:.2f} × as long (at most {MOST_TRACED:g})")
    is_costly = max(ratios.values()) > MOST_TRACED
    return int(is_costly or any(one.missed or one.accused or one.is_slow for one in scores))


if __name__ == "__main__":
    sys.exit(main())
