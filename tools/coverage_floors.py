"""Holds each low floor to its own share of covered lines and branches.

Usage: `python tools/coverage_floors.py .cache/coverage.json` (written by `coverage json`).
The overall share is coverage.py's own `fail_under`; a sum over everything would let a gap in a
small, pure package hide behind a large one.
"""

import json
import sys
from pathlib import Path
from typing import Any, NamedTuple

# Percent of lines and branches together. A package that does not exist yet is passed over.
THRESHOLDS = {
    # Floors 0 and 1: pure functions, nothing in them is hard to reach.
    "intent": 100.0,
    "schema": 100.0,
    "settings": 100.0,
    "infer": 100.0,
    "catalog": 100.0,
    "policy": 100.0,
    "prompt": 100.0,
    "report": 100.0,
    "source": 100.0,
    # Floor 2: meets disks, processes and networks.
    "store": 100.0,
    "keys": 100.0,
    "connect": 100.0,
}

ROOT = Path("src/sayso")


class Gap(NamedTuple):
    """What no test reached in one file."""

    path: str
    lines: list[int]
    branches: list[list[int]]

    def __str__(self) -> str:
        """Give the file with its lines, and its branches as `from->to` (0 is the way out)."""
        lines = [str(line) for line in self.lines]
        branches = [f"{start}->{max(end, 0)}" for start, end in self.branches]
        return f"{self.path}: {', '.join(lines + branches)}"


class Share(NamedTuple):
    """How much of one package the tests reached."""

    package: str
    covered: int
    total: int
    gaps: list[Gap]

    @property
    def percent(self) -> float:
        """The covered share; an empty package has nothing to miss."""
        return 100.0 * self.covered / self.total if self.total else 100.0

    @property
    def is_enough(self) -> bool:
        """Whether the package reaches its threshold."""
        return self.percent >= THRESHOLDS[self.package]


def measure(package: str, files: dict[str, Any]) -> Share | None:
    """Sum up the report's files under one package; None when it has none."""
    inside = {
        name: report for name, report in files.items() if Path(name).is_relative_to(ROOT / package)
    }
    if not inside:
        return None
    sums = [report["summary"] for report in inside.values()]
    return Share(
        package=package,
        covered=sum(one["covered_lines"] + one["covered_branches"] for one in sums),
        total=sum(one["num_statements"] + one["num_branches"] for one in sums),
        gaps=[
            Gap(name, report["missing_lines"], report["missing_branches"])
            for name, report in sorted(inside.items())
            if report["missing_lines"] or report["missing_branches"]
        ],
    )


def main(report_path: str) -> int:
    """Print one line per package and return 1 when one is below its threshold."""
    files = json.loads(Path(report_path).read_text(encoding="utf-8"))["files"]
    shares = [share for package in THRESHOLDS if (share := measure(package, files))]
    for share in shares:
        print(f"coverage of {share.package:<8} {share.percent:6.2f} %", end="")
        print(f"  (at least {THRESHOLDS[share.package]:.0f} %)")
    short = [share for share in shares if not share.is_enough]
    for share in short:
        print(
            f"coverage_floors: {share.package} is at {share.percent:.2f} %, "
            f"below {THRESHOLDS[share.package]:.0f} %; not reached:",
            file=sys.stderr,
        )
        for gap in share.gaps:
            print(f"  {gap}", file=sys.stderr)
    return 1 if short else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:  # noqa: PLR2004 - the program and its one argument
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1]))
