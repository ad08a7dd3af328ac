"""How long the linter takes over 5,000 tools, and over a few that are made to take long.

The tools are made up: names, texts and schemas of the size that real ones have. Also told: one
description of a megabyte, and one schema that is deep and wide. Exits with 1 above the target.

Usage: `python bench/lint.py [--json]`, with the Python of `.venv`.
"""

import argparse
import json
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sayso.lint import choose, find_profile, lint, make_listing

TOOLS = 5_000
TARGET = 2.0
FREE = frozenset({f"{TOOLS:,} tools, profile strict"})
"""What has no target: the time that inferring takes has one of its own."""
VERBS = ("list", "get", "create", "update", "delete", "search", "send", "archive")
NOUNS = ("order", "invoice", "customer", "ticket", "page", "channel", "report", "file")
SENTENCE = "Works on one of them by its number, and says what became of it. "


def tool(number: int) -> dict[str, Any]:
    """A tool that is much like a real one."""
    verb, noun = VERBS[number % 8], NOUNS[number // 8 % 8]
    properties = {
        f"{noun}_{one}": {"type": "string", "description": f"The {one} of the {noun}"}
        for one in ("id", "name", "state", "owner", "since")
    }
    return {
        "name": f"{verb}_{noun}_{number}",
        "title": f"{verb.title()} {noun} {number}",
        "description": f"{verb.title()}s {noun} number {number}. " + SENTENCE * 8,
        "inputSchema": {"type": "object", "properties": properties, "required": [f"{noun}_id"]},
        "annotations": {"readOnlyHint": verb in {"list", "get", "search"}, "openWorldHint": False},
    }


def deep() -> dict[str, Any]:
    """A schema of 2,000 references in a circle, beside one that is 200 levels deep."""
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(200):
        schema = {"type": "object", "properties": {str(one): schema for one in range(1)}}
    wide = {f"p{one}": {"$ref": f"#/$defs/d{one}"} for one in range(2_000)}
    defs = {f"d{one}": {"$ref": f"#/$defs/d{(one + 1) % 2_000}"} for one in range(2_000)}
    return {"type": "object", "properties": {**wide, "deep": schema}, "$defs": defs}


def seconds(entries: Sequence[Mapping[str, Any]], profile: str) -> float:
    """The time that linting these tools takes."""
    choice = choose(find_profile(profile))
    # Of the processor, since nothing here waits: what else the machine does is not counted.
    began = time.process_time()
    lint(make_listing("bench", entries), choice)
    return time.process_time() - began


def main() -> int:
    """Measure each case twice; the better counts."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--json", action="store_true")
    words = parser.parse_args()
    many = [tool(number) for number in range(TOOLS)]
    cases: dict[str, Callable[[], float]] = {
        f"{TOOLS:,} tools, profile spec": lambda: seconds(many, "spec"),
        f"{TOOLS:,} tools, profile strict": lambda: seconds(many, "strict"),
        "one description of 1 MB": lambda: seconds(
            [{**tool(0), "description": "never do not tell (" * 52_000}], "strict"
        ),
        "one schema, deep and wide": lambda: seconds(
            [{**tool(0), "inputSchema": deep()}], "strict"
        ),
    }
    took = {name: min(case() for _ in range(2)) for name, case in cases.items()}
    if words.json:
        print(json.dumps({"target": TARGET, "seconds": took}))
    else:
        for name, one in took.items():
            bound = f"at most {TARGET} s" if name not in FREE else "every tool's hints are inferred"
            print(f"{name:32} {one:6.2f} s  ({bound})")
    return int(any(one > TARGET for name, one in took.items() if name not in FREE))


if __name__ == "__main__":
    sys.exit(main())
