"""How fast sayso starts: `import sayso` and `sayso --version`.

Every round starts each program once, in turn, so that a busy moment of the machine falls on all
of them; the medians are compared. Exits with 1 when a target is missed.

Usage: `python bench/start.py [--rounds N] [--json]`, with the Python of `.venv`.
"""

import argparse
import json
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

PYTHON = sys.executable
BARE = "python -c pass"
HTTP_SERVER = "python -m http.server --help"
IMPORT = "import sayso"
VERSION = "sayso --version"

PROGRAMS = {
    BARE: [PYTHON, "-c", "pass"],
    HTTP_SERVER: [PYTHON, "-m", "http.server", "--help"],
    IMPORT: [PYTHON, "-c", "import sayso"],
    VERSION: [str(Path(PYTHON).with_name("sayso")), "--version"],
}

IMPORT_OVER_BARE_MS = 60.0
VERSION_MS = 250.0
ROUNDS = 21


class Measurement(NamedTuple):
    """The median time of one program, in milliseconds and against the two yardsticks."""

    name: str
    median_ms: float
    over_bare_ms: float
    ratio_to_bare: float
    ratio_to_http_server: float


class Target(NamedTuple):
    """One promise, what was measured of it, and whether it is kept."""

    name: str
    limit_ms: float
    measured_ms: float
    is_met: bool


def time_ms(command: list[str]) -> float:
    """Run a program to its end and return how long that took."""
    start = time.perf_counter()
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    elapsed = time.perf_counter() - start
    if done.returncode != 0:
        talk = done.stderr.decode(errors="replace").strip()
        sys.exit(f"bench: {' '.join(command)} ended with {done.returncode}: {talk}")
    return elapsed * 1000.0


def measure(rounds: int) -> list[Measurement]:
    """Start all programs in turn, `rounds` times after one that only warms the disk cache."""
    times: dict[str, list[float]] = {name: [] for name in PROGRAMS}
    for number in range(rounds + 1):
        for name, command in PROGRAMS.items():
            elapsed = time_ms(command)
            if number > 0:
                times[name].append(elapsed)
    medians = {name: statistics.median(values) for name, values in times.items()}
    return [
        Measurement(
            name=name,
            median_ms=median,
            over_bare_ms=median - medians[BARE],
            ratio_to_bare=median / medians[BARE],
            ratio_to_http_server=median / medians[HTTP_SERVER],
        )
        for name, median in medians.items()
    ]


def judge(measurements: list[Measurement]) -> list[Target]:
    """Hold the measurements against the targets."""
    by_name = {one.name: one for one in measurements}
    import_ms = by_name[IMPORT].over_bare_ms
    version_ms = by_name[VERSION].median_ms
    return [
        Target(
            "import sayso, over a bare interpreter",
            IMPORT_OVER_BARE_MS,
            import_ms,
            import_ms <= IMPORT_OVER_BARE_MS,
        ),
        Target("sayso --version", VERSION_MS, version_ms, version_ms <= VERSION_MS),
    ]


def show(measurements: list[Measurement], targets: list[Target]) -> None:
    """Print both as a table for people."""
    head = f"{'program':<30}{'median ms':>11}{'over bare':>11}{'x bare':>9}{'x http.server':>15}"
    print(head)
    for one in measurements:
        print(
            f"{one.name:<30}{one.median_ms:>11.1f}{one.over_bare_ms:>11.1f}"
            f"{one.ratio_to_bare:>9.2f}{one.ratio_to_http_server:>15.2f}"
        )
    print()
    for target in targets:
        word = "met" if target.is_met else "MISSED"
        print(f"{word:<7}{target.name}: {target.measured_ms:.1f} ms of {target.limit_ms:.0f} ms")


def main() -> int:
    """Measure, print, and return 1 when a target is missed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="how often each is started")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    options = parser.parse_args()
    if options.rounds < 1:
        parser.error("--rounds must be at least 1")

    measurements = measure(options.rounds)
    targets = judge(measurements)
    if options.json:
        report = {
            "schema": 1,
            "rounds": options.rounds,
            "measurements": [one._asdict() for one in measurements],
            "targets": [one._asdict() for one in targets],
        }
        print(json.dumps(report, indent=2))
    else:
        show(measurements, targets)
    return 0 if all(target.is_met for target in targets) else 1


if __name__ == "__main__":
    sys.exit(main())
