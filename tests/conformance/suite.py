"""The official conformance suite, against a server directly and through the gateway.

Usage: `python -m tests.conformance.suite` prints the table; `make proof` installs the suite.
"""

import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

NPM = Path(__file__).parents[1] / "npm"
SERVER = NPM / "suite_server.mjs"
MODULES = NPM / "suite/node_modules"
NODE = MODULES / "node/bin/node"
SUITE = MODULES / "@modelcontextprotocol/conformance/dist/index.js"
VERSIONS = ("2025-06-18", "2025-11-25")
"""The versions that the suite knows for servers. It knows no other yet."""

Results = dict[str, dict[str, str]]
"""The status of each check, by scenario and by check."""


@dataclass(frozen=True, slots=True)
class Sides:
    """The results of one version of the protocol, directly and through the gateway."""

    version: str
    direct: Results
    through: Results


def compare(versions: Sequence[str] = VERSIONS) -> list[Sides]:
    """Run the suite on both sides, in each version."""
    with _server() as direct, _gateway(direct) as through:
        return [
            Sides(version, _run(direct, version), _run(through, version)) for version in versions
        ]


def is_passed(checks: dict[str, str]) -> bool:
    """Return whether a scenario had no failure. It says `INFO` of what does not apply."""
    return bool(checks) and "FAILURE" not in checks.values()


def table(sides: Sequence[Sides]) -> str:
    """Return a Markdown table of the scenarios."""
    lines = ["| scenario | version | direct | through the gateway |", "| --- | --- | --- | --- |"]
    for side in sides:
        for scenario, checks in side.direct.items():
            row = (_count(checks), _count(side.through.get(scenario, {})))
            lines.append(f"| {scenario} | {side.version} | {' | '.join(row)} |")
    return "\n".join(lines)


def _count(checks: dict[str, str]) -> str:
    passed = sum(status == "SUCCESS" for status in checks.values())
    failed = sum(status == "FAILURE" for status in checks.values())
    return f"{passed} passed" if not failed else f"{passed} passed, {failed} failed"


def _run(url: str, version: str) -> Results:
    with tempfile.TemporaryDirectory() as folder:
        words = ["server", "--url", url, "--suite", "all", "--spec-version", version, "-o", folder]
        subprocess.run(
            [NODE, SUITE, *words], capture_output=True, text=True, check=False, timeout=300
        )
        return dict(sorted(_read(path) for path in Path(folder).glob("*/checks.json")))


def _read(path: Path) -> tuple[str, dict[str, str]]:
    # The folder is called server-SCENARIO-TIME.
    scenario = re.sub(r"-\d{4}-\d\d-\d\dT.*", "", path.parent.name.removeprefix("server-"))
    checks = json.loads(path.read_text("utf-8"))
    return scenario, {check["id"]: check["status"] for check in checks}


@contextmanager
def _server() -> Generator[str]:
    with _started("node", SERVER, "0") as process:
        assert process.stdout is not None
        yield process.stdout.readline().strip()


@contextmanager
def _gateway(server: str) -> Generator[str]:
    with tempfile.TemporaryDirectory() as folder:
        configuration = Path(folder) / "mcp.json"
        configuration.write_text(json.dumps({"mcpServers": {"suite": {"url": server}}}), "utf-8")
        store = f"sqlite:{folder}/sayso.db"
        words = ("gateway", configuration, "--port", "0", "--store", store, "--json")
        sayso = Path(sys.executable).with_name("sayso")
        with _started(sayso, *words) as process:
            assert process.stdout is not None
            started = json.loads(process.stdout.readline())
            # Each server is also served alone, where its tools keep their names.
            yield started["mcp"].removesuffix("/mcp") + "/servers/suite/mcp"


@contextmanager
def _started(*words: str | Path) -> Generator[subprocess.Popen[str]]:
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.terminate()


if __name__ == "__main__":
    sys.stdout.write(f"{table(compare())}\n")
