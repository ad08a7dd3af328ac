"""Measure how many tools `sayso verify` reaches on servers that it was not developed with.

Each server of one part of bench/servers.toml is verified as it is published, from its registry. A
tool is reached if a call of it succeeds. Prints, for each server, the tools reached, each tool that
was not reached with its reason, and each refuted hint, to be checked by hand against the source.

Usage: `python bench/reach.py work|aside [--only NAME]... [--out DIR] [--install-scripts]`
"""

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lot import PARTS, load_servers, split

SAYSO = Path(sys.executable).with_name("sayso")
WORLD = "/world"
"""The sample files' folder inside the sandbox."""
MOST_SECONDS = 1800


@dataclass
class Reached:
    """The result for one server. `error` is the reason why it did not start."""

    name: str
    needs: str
    seconds: float
    error: str = ""
    reached: list[str] = field(default_factory=list[str])
    missed: dict[str, str] = field(default_factory=dict[str, str])
    refuted: list[str] = field(default_factory=list[str])

    @property
    def tools(self) -> int:
        """Return the number of tools that the server has."""
        return len(self.reached) + len(self.missed)


def command_of(server: dict[str, Any]) -> list[str]:
    """Return the command that fetches and starts a server."""
    name, version = server["name"], server["version"]
    args = server.get("args", [])
    if server["registry"] == "npm":
        return ["npx", "-y", f"{name}@{version}", *args]
    more = [word for spec in server.get("with", ()) for word in ("--with", spec)]
    return ["uvx", *more, "--from", f"{name}=={version}", server.get("program", name), *args]


def verify(server: dict[str, Any], options: Sequence[str]) -> tuple[dict[str, Any], str]:
    """Verify a server. Return its JSON report, or {} and the last line of the error."""
    env = [
        word
        for name, value in server.get("env", {}).items()
        for word in ("--env", f"{name}={value.replace('{world}', WORLD)}")
    ]
    words = [str(SAYSO), "verify", "--json", *env, *options]
    words += [*server.get("options", ()), "--", *command_of(server)]
    try:
        done = subprocess.run(
            words, capture_output=True, text=True, check=False, timeout=MOST_SECONDS
        )
    except subprocess.TimeoutExpired:
        return {}, f"not done after {MOST_SECONDS} s"
    if done.returncode in (0, 1):
        return json.loads(done.stdout), ""
    return {}, " / ".join(done.stderr.strip().splitlines()[-4:])


def read(server: dict[str, Any], report: dict[str, Any], error: str, seconds: float) -> Reached:
    """Read a server's reach from its report."""
    result = Reached(server["name"], server.get("needs", ""), seconds, error)
    for tool in report.get("tools", ()):
        if tool["reach"]["successes"]:
            result.reached.append(tool["name"])
        else:
            result.missed[tool["name"]] = tool.get("error", "")
        result.refuted += [
            f"{tool['name']}: {hint}: {verdict['reason']}"
            for hint, verdict in tool["hints"].items()
            if verdict["verdict"] == "refuted"
        ]
    return result


def show(result: Reached) -> None:
    """Print one server."""
    needs = f"  (needs {result.needs})" if result.needs else ""
    share = f"{len(result.reached)} of {result.tools}" if not result.error else "not started"
    print(f"{result.name}: {share}, {result.seconds:.0f} s{needs}", flush=True)
    if result.error:
        print(f"    {result.error}")
    for name, why in result.missed.items():
        print(f"    not reached: {name}: {' '.join(why.split())[:160]}")
    for line in result.refuted:
        print(f"    refuted: {line[:200]}", flush=True)


def main() -> int:
    """Verify one part's servers; 1 if a server did not start."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", choices=PARTS)
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--out", type=Path)
    parser.add_argument("--install-scripts", action="store_true")
    given = parser.parse_args()
    options = ["--install-scripts"] if given.install_scripts else []
    results: list[Reached] = []
    for server in split(load_servers())[given.part]:
        if given.only and server["name"] not in given.only:
            continue
        started = time.perf_counter()
        report, error = verify(server, options)
        if given.out:
            given.out.mkdir(parents=True, exist_ok=True)
            name = server["name"].replace("/", "+")
            (given.out / f"{server['registry']}-{name}.json").write_text(json.dumps(report))
        results.append(read(server, report, error, time.perf_counter() - started))
        show(results[-1])
    tools = sum(result.tools for result in results)
    reached = sum(len(result.reached) for result in results)
    refuted = sum(len(result.refuted) for result in results)
    started_count = sum(not result.error for result in results)
    print(
        f"reach: {reached} of {tools} tools ({reached / max(tools, 1):.0%}) on {started_count} of "
        f"{len(results)} servers; {refuted} hints refuted, each to be checked by hand"
    )
    return int(started_count < len(results))


if __name__ == "__main__":
    sys.exit(main())
