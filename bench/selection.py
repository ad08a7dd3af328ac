"""How fast the right few tools are found among 5,000 and 50,000, beside BM25 as it is usually done.

Tools and messages are made up, of many words in uneven numbers, as texts have them; the seed is
fixed. `build` is making the selector, with the first selection; a query is a selection of ten by
one message, none of which comes twice. `among reads` holds destructive tools back unless a message
asks for them, as the agents do. Times are the processor's: others use the machine too. Exits with
1 when a target is missed: at 5,000 tools a build of 0.5 s and a median query of 1 ms.

Usage: `python bench/selection.py [--rounds N] [--json]`, with the Python of `.venv`.
"""

import argparse
import gc
import json
import random
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Any, NamedTuple

from plain import Plain, full_text, percentile, plain_text, split_and_stem, split_plain

from sayso import Selector
from sayso.catalog import Tool, make_tool

SIZES = (5_000, 50_000)
QUERIES = 400
BUILD_S, QUERY_MS = 0.5, 1.0
VERBS = """
    get list search create update delete send read write find add remove export import
    analyze calculate translate schedule cancel convert
""".split()
NOUNS = """
    customer invoice file folder mail calendar event ticket order product report user team
    project task image video document page table chart weather route stock price news article
    paper repository issue commit branch database query log metric alert server container
    cluster message channel meeting note contact account payment refund subscription hotel
    flight train restaurant recipe song playlist book course patient drug gene protein contract
    property shipment vehicle sensor policy survey campaign
""".split()
SYLLABLES = "ba co di fu ga he ji ka lo mi nu pe ra so ti vu we xa yo zi".split()
FILLERS = "Please I need to then also the for of with a from and".split()


class Result(NamedTuple):
    """One method at one size: seconds to build, milliseconds per query."""

    method: str
    tools: int
    build: float
    median: float
    p95: float

    @property
    def is_met(self) -> bool:
        """Whether the targets are kept, where there are any."""
        has_target = self.method == "sayso" and self.tools == SIZES[0]
        return not has_target or (self.build <= BUILD_S and self.median <= QUERY_MS)


def make_tools(count: int) -> list[Tool]:
    """Made-up tools of a hundred servers."""
    chance = random.Random(7)  # noqa: S311 - the same tools each time
    rare = ["".join(chance.choices(SYLLABLES, k=3)) for _ in range(6_000)]
    weights = list(accumulate(1 / (place + 3) for place in range(len(rare))))

    def words(number: int) -> list[str]:
        return chance.choices(NOUNS, k=number // 4) + chance.choices(
            rare, cum_weights=weights, k=number // 2
        )

    tools: list[Tool] = []
    for number in range(count):
        verb, noun = chance.choice(VERBS), chance.choice(NOUNS)
        properties = {
            "_".join(words(2)): {"type": "string", "description": " ".join(words(6))}
            for _ in range(chance.randint(1, 6))
        }
        raw: dict[str, Any] = {
            "name": f"{verb}_{noun}_{chance.choice(rare)}_{number}",
            "description": f"{verb.title()} a {noun}. {' '.join(words(chance.randint(8, 40)))}.",
            "inputSchema": {"type": "object", "properties": properties},
            "annotations": {"readOnlyHint": verb in VERBS[:3], "destructiveHint": verb == "delete"},
        }
        tools.append(make_tool(f"server{number % 100}", raw, infer=False))
    return tools


def make_queries(tools: Sequence[Tool]) -> list[str]:
    """Messages that want one to four things."""
    chance = random.Random(11)  # noqa: S311 - the same messages each time
    queries: list[str] = []
    for _ in range(QUERIES):
        needs: list[str] = []
        for _ in range(chance.randint(1, 4)):
            tool = chance.choice(tools)
            said = tool.name.split("_")[:-1] + str(tool.raw["description"]).split()[3:8]
            needs.append(" ".join(one for word in said for one in (chance.choice(FILLERS), word)))
        queries.append(". ".join(needs))
    return queries


def measure(
    method: str,
    tools: Sequence[Tool],
    queries: Sequence[str],
    make: Callable[[], Callable[[str], Any]],
) -> Result:
    """Build it and ask it every query once."""
    gc.collect()
    start = time.process_time()
    ask = make()
    ask("find a customer")
    build = time.process_time() - start
    times: list[float] = []
    for query in queries:
        start = time.process_time()
        ask(query)
        times.append((time.process_time() - start) * 1e3)
    return Result(method, len(tools), build, statistics.median(times), percentile(times, 0.95))


def measure_all(count: int, rounds: int) -> list[Result]:
    """Every method at one size; of several rounds the best, since others use the machine too."""
    tools = make_tools(count)
    queries = make_queries(tools)
    raws = [one.raw for one in tools]

    def selector() -> Callable[[str], Any]:
        return Selector(tools).select

    def among_reads() -> Callable[[str], Any]:
        made = Selector(tools)
        return lambda said: made.select(said, unless_asked=("destructive",))

    methods: dict[str, Callable[[], Callable[[str], Any]]] = {
        "sayso": selector,
        "sayso, among reads": among_reads,
        "BM25, plain": lambda: Plain(map(plain_text, raws), split_plain).rank,
        "BM25, split, stem, parameters": lambda: Plain(map(full_text, raws), split_and_stem).rank,
    }
    found: list[Result] = []
    rounds = rounds if count == SIZES[0] else 1
    for method, make in methods.items():
        tried = [measure(method, tools, queries, make) for _ in range(rounds)]
        found.append(
            Result(
                method,
                count,
                min(one.build for one in tried),
                min(one.median for one in tried),
                min(one.p95 for one in tried),
            )
        )
    return found


def measure_adding() -> float:
    """Milliseconds to add one tool to 5,000 and select once."""
    tools = make_tools(SIZES[0] + 21)
    selector = Selector(tools[: SIZES[0]])
    times: list[float] = []
    for tool in tools[SIZES[0] :]:
        start = time.process_time()
        selector.add(tool)
        selector.select("find a customer and mail a report")
        times.append((time.process_time() - start) * 1e3)
    return statistics.median(times)


def show(results: Sequence[Result], adding: float) -> None:
    """Print a table for people."""
    print(f"{'':<32}{'tools':>8}{'build s':>9}{'query ms':>10}{'p95 ms':>8}")
    for one in results:
        word = "  met" if one.method == "sayso" and one.tools == SIZES[0] else ""
        print(
            f"{one.method:<32}{one.tools:>8,}{one.build:>9.2f}{one.median:>10.2f}{one.p95:>8.2f}"
            f"{word if one.is_met else '  MISSED'}"
        )
    print(f"Targets at {SIZES[0]:,}: build {BUILD_S} s with the first query, query {QUERY_MS} ms.")
    print(f"Adding one tool to {SIZES[0]:,} and selecting takes {adding:.1f} ms.")


def main() -> int:
    """Measure, print, and return 1 when a target is missed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--rounds", type=int, default=3, help="how often each is measured")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    options = parser.parse_args()
    if options.rounds < 1:
        parser.error("--rounds must be at least 1")
    results = [one for size in SIZES for one in measure_all(size, options.rounds)]
    adding = measure_adding()
    if options.json:
        found = [{**one._asdict(), "is_met": one.is_met} for one in results]
        print(json.dumps({"schema": 1, "results": found, "adding_ms": adding}, indent=2))
    else:
        show(results, adding)
    return 0 if all(one.is_met for one in results) else 1


if __name__ == "__main__":
    sys.exit(main())
