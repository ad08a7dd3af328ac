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
from eval.table import aligned, as_json, by_attack, by_tool, counts, markdown, replaced, table
from eval.trials import DOJO, TRIALS, missing

AGENTDOJO: Final = "agentdojo"
DOCUMENT: Final = Path(__file__).parent.parent / "eval" / "RESULTS.md"


def main() -> int:
    """Measure all, or some."""
    parser = argparse.ArgumentParser(prog="make eval", description=__doc__)
    parser.add_argument("--only", action="append", choices=TRIALS, help="one part, or some")
    parser.add_argument("--all", action="store_true", help="every pair of a task and an attack")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true", help="all counts, for programs")
    parser.add_argument("--write", action="store_true", help="renew the tables of eval/RESULTS.md")
    given = parser.parse_args()
    start = time.perf_counter()
    lacks = {name: lack for name in given.only or TRIALS if (lack := missing(name))}
    for name, lack in lacks.items():
        print(f"eval: {name} is left out: it needs {lack}", file=sys.stderr)
    names = [name for name in given.only or TRIALS if name not in lacks]
    rows = run(names, given.seed, is_all=given.all)
    if given.json:
        print(json.dumps(as_json(rows)))
        return 0
    made = sections(rows)
    for name, (said, lines) in made.items():
        print(f"{name}: {said}\n{aligned(lines)}\n")
    if given.write:
        text = DOCUMENT.read_text(encoding="utf-8")
        for name, (said, lines) in made.items():
            text = replaced(text, name, f"{said}\n\n{markdown(lines)}")
        DOCUMENT.write_text(text, encoding="utf-8")
    print(f"eval: {time.perf_counter() - start:.0f} s")
    return 0


def sections(rows: Sequence[Row]) -> dict[str, tuple[str, list[list[str]]]]:
    """What is told: the suites of the benchmark together, everything else for itself."""
    parts: dict[str, list[Row]] = {}
    for row in rows:
        parts.setdefault(AGENTDOJO if f"dojo-{row.world}" in DOJO else row.world, []).append(row)
    made = {name: (counts(part), table(part)) for name, part in parts.items()}
    for name, part in parts.items():
        made[f"{name}-unasked"] = "Harm that ran unasked, by tool:", by_tool(part)
    if traced := [row for name, part in parts.items() if name != AGENTDOJO for row in part]:
        made["attacks"] = "Harmful calls that ran, by attack:", by_attack(traced)
    return made


if __name__ == "__main__":
    sys.exit(main())
