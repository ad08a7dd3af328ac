"""The findings in docs/explanation/findings.md, reproduced with the page's own commands."""

import json
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
SAYSO = Path(sys.executable).with_name("sayso")
TEXT = (ROOT / "docs" / "explanation" / "findings.md").read_text(encoding="utf-8")
MOST_SECONDS = 1800
TOOLS = 5


@dataclass(frozen=True, slots=True)
class Told:
    """One line of the table: a server, how many tools it has, how many went well and were false."""

    name: str
    tools: int
    successes: int
    refuted: int

    @property
    def section(self) -> str:
        """What is said of it below the table."""
        return re.split(r"^## ", TEXT.split(f"\n## {self.name}\n", 1)[1], flags=re.MULTILINE)[0]

    @property
    def command(self) -> list[str]:
        """The words of the command that shows it again."""
        found = re.search(r"```sh\n(sayso verify .+)\n```", self.section)
        assert found is not None, self.name
        return shlex.split(found[1])

    @property
    def findings(self) -> set[tuple[str, str]]:
        """The tools with the hints of theirs that are refuted."""
        return set(re.findall(r"^- `([^`]+)`: `(\w+)` is refuted", self.section, re.MULTILINE))


def told() -> list[Told]:
    rows = re.findall(
        r"^\| \[(.+?)\]\(.+?\) \| \S+ \| (\d+) \| (\d+) \| (\d+) \|", TEXT, re.MULTILINE
    )
    return [Told(name, int(tools), int(good), int(bad)) for name, tools, good, bad in rows]


def test_the_table_and_the_sections_tell_the_same() -> None:
    servers = told()
    assert len(servers) >= 10
    for one in servers:
        assert one.command[:2] == ["sayso", "verify"]
        assert len(one.findings) == one.refuted, one.name
        assert one.successes <= one.tools


def test_the_totals_are_those_of_the_lines_and_reach_what_was_aimed_at() -> None:
    servers = told()
    total = re.search(r"^\| \*\*all\*\* \| \| (\d+) \| (\d+) \| (\d+) \|", TEXT, re.MULTILINE)
    assert total is not None
    sums = [sum(getattr(one, key) for one in servers) for key in ("tools", "successes", "refuted")]
    assert [int(one) for one in total.groups()] == sums
    assert sums[1] >= 0.7 * sums[0]


@pytest.mark.proof
@pytest.mark.parametrize("one", told(), ids=lambda one: one.name)
def test_a_server_shows_again_what_is_told_of_it(one: Told) -> None:
    words = one.command
    done = subprocess.run(
        [SAYSO, *words[1:2], "--json", *words[2:]],
        capture_output=True,
        text=True,
        timeout=MOST_SECONDS,
        check=False,
    )
    assert done.returncode == (1 if one.findings else 0), done.stderr
    report: dict[str, Any] = json.loads(done.stdout)
    refuted = {
        (tool["name"], hint)
        for tool in report["tools"]
        for hint, found in tool["hints"].items()
        if found["verdict"] == "refuted"
    }
    assert refuted == one.findings
    assert len(report["tools"]) == one.tools
    reached = sum(tool["reach"]["successes"] > 0 for tool in report["tools"])
    assert reached >= one.successes - one.tools // TOOLS, "fewer tools went well than is told"
