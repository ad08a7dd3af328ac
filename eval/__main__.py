"""Whether a gate makes agents safer, measured by what changes.

Replays the tasks and attacks of AgentDojo as tool calls, and generated traces against the demo and
real servers, behind each gate. No model is called, and nothing of the network is used.
"""

import argparse
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from eval.measure import Row
from eval.runs import run
from eval.table import aligned, as_json, counts, markdown, replaced, table
from eval.trials import DOJO, TRIALS

DOCUMENT: Final = Path(__file__).parent.parent / "docs" / "eval.md"


def main() -> int:
    """Measure all, or some."""
    parser = argparse.ArgumentParser(prog="make eval", description=__doc__)
    parser.add_argument("--only", action="append", choices=TRIALS, help="one part, or some")
    parser.add_argument("--all", action="store_true", help="every pair of a task and an attack")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true", help="all counts, for programs")
    parser.add_argument("--write", action="store_true", help="renew the tables of docs/eval.md")
    given = parser.parse_args()
    start = time.perf_counter()
    rows = run(given.only or TRIALS, given.seed, is_all=given.all)
    if given.json:
        print(json.dumps(as_json(rows)))
        return 0
    for name, section in sections(rows).items():
        print(f"{name}: {counts(section)}\n{aligned(table(section))}\n")
    if given.write:
        write(sections(rows))
    print(f"eval: {time.perf_counter() - start:.0f} s")
    return 0


def sections(rows: Sequence[Row]) -> dict[str, list[Row]]:
    """The suites of the benchmark together, everything else for itself."""
    made: dict[str, list[Row]] = {}
    for row in rows:
        name = "agentdojo" if f"dojo-{row.world}" in DOJO else row.world
        made.setdefault(name, []).append(row)
    return made


def write(made: dict[str, list[Row]]) -> None:
    """Renew what was measured, and leave all else in the document as it is."""
    text = DOCUMENT.read_text(encoding="utf-8")
    for name, rows in made.items():
        text = replaced(text, name, f"{counts(rows)}\n\n{markdown(table(rows))}")
    DOCUMENT.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
