"""How long it takes to infer a tool's hints, and what its weights weigh.

The tools are those of the demo, and made-up ones with long descriptions and many parameters.
Beside it in the same run: the canonical JSON of the same tools, which every tool needs anyway.
Where `SAYSO_CORPUS` names the corpus, its tools are measured too. Exits with 1 when a target is
missed.

Usage: `python bench/infer.py [--rounds N] [--json]`, with the Python of `.venv`.
"""

import argparse
import json
import os
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

from sayso.infer import guess
from sayso.schema import digest

MS, MIB = 1.0, 1.0
TOOLS = 400

Tools = Sequence[dict[str, Any]]


def made() -> Tools:
    """Tools with ten parameters and half a page of text each."""
    text = "Gets the notes of a customer. Returns a list, newest first. Nothing is changed. " * 8
    names = ("list_notes", "delete_note", "note_update", "send_mail", "run_query")
    schema = {
        "type": "object",
        "properties": {
            f"{name}_{kind}": {"type": "string", "description": f"The {name} to {kind}."}
            for name in ("note", "customer", "page", "label", "body")
            for kind in ("get", "delete")
        },
        "required": ["note_get"],
    }
    return [
        {"name": f"{names[n % 5]}_{n}", "description": text, "inputSchema": schema}
        for n in range(TOOLS)
    ]


def corpus() -> Tools:
    """The real tools, where they are."""
    place = os.environ.get("SAYSO_CORPUS")
    if not place:
        return []
    with (Path(place) / "hints" / "tools.jsonl").open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def each(work: Callable[[dict[str, Any]], object], tools: Tools) -> float:
    """Milliseconds of processor time for one tool."""
    start = time.process_time()
    for one in tools:
        work(one)
    return (time.process_time() - start) * 1000 / len(tools)


def main() -> int:
    """Measure, print, and say whether the targets are met."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    guess({"name": "warm_up"})
    found: dict[str, float] = {}
    for name, tools in (("made up", made()), ("real", corpus())):
        if not tools:
            print("SAYSO_CORPUS is not set: real tools are skipped", file=sys.stderr)
            continue
        ours = [each(guess, tools) for _ in range(options.rounds)]
        base = [each(digest, tools) for _ in range(options.rounds)]
        found[f"{name}: ms for a tool"] = statistics.median(ours)
        found[f"{name}: times a digest of the same"] = statistics.median(
            a / b for a, b in zip(ours, base, strict=True)
        )
    found["MiB of weights"] = (
        len(files("sayso.infer").joinpath("weights.json").read_bytes()) / 2**20
    )
    is_met = found["MiB of weights"] <= MIB and all(
        value <= MS for name, value in found.items() if name.endswith("ms for a tool")
    )
    if options.json:
        print(json.dumps({"schema": 1, "found": found, "is_met": is_met}))
    else:
        for name, value in found.items():
            target = MS if name.endswith("a tool") else MIB if name.startswith("MiB") else None
            print(f"{name:<40}{value:8.3f}" + (f"   at most {target}" if target else ""))
    return 0 if is_met else 1


if __name__ == "__main__":
    sys.exit(main())
