"""How well the tools that messages need are found, beside BM25 as it is usually done.

Reads pairs of files from the folder that SAYSO_RETRIEVAL names: `X-tools.jsonl`, each line with
`id`, `name`, `description`, `schema` and perhaps `server` and `category`, and `X-queries.jsonl`,
each with `id`, `query` and `relevant`, groups any one tool of which meets a need. Told are the
means over the queries and the time of one, and how much sayso is above each other method, with the
interval that a paired bootstrap leaves at 90 %. Exits with 1 where that reaches below zero.

Usage: `SAYSO_RETRIEVAL=FOLDER python bench/retrieval.py [--json]`, with the Python of `.venv`.
"""

import argparse
import json
import os
import random
import statistics
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from measures import ndcg, recall
from plain import Plain, full_text, percentile, plain_text, split_and_stem, split_plain

from sayso import Selector
from sayso.catalog.select.entry import index_entry

SAMPLES = 10_000
Record = Mapping[str, Any]
Measures = tuple[float, float, float]
NAMES = ("R@5", "R@10", "NDCG@10")
OURS = "sayso"


class Result(NamedTuple):
    """One method on one set: the measures of each query, seconds to build, milliseconds a query."""

    method: str
    measures: list[Measures]
    build: float
    median: float
    p95: float

    @property
    def means(self) -> list[float]:
        """The measures over all queries."""
        return [statistics.mean(column) for column in zip(*self.measures, strict=True)]


def read(path: Path) -> list[Record]:
    """The records of a file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line]


def measure(
    method: str,
    tools: Sequence[Record],
    queries: Sequence[Record],
    make: Callable[[Sequence[Record]], Callable[[str], list[str]]],
) -> Result:
    """Build it, and ask it every query once."""
    start = time.process_time()
    ask = make(tools)
    build = time.process_time() - start
    measures: list[Measures] = []
    times: list[float] = []
    for query in queries:
        start = time.process_time()
        ranked = ask(query["query"])
        times.append((time.process_time() - start) * 1e3)
        groups: list[list[str]] = query["relevant"]
        found = (recall(ranked, groups, 5), recall(ranked, groups, 10), ndcg(ranked, groups, 10))
        measures.append(found)
    return Result(method, measures, build, statistics.median(times), percentile(times, 0.95))


def ours(tools: Sequence[Record]) -> Callable[[str], list[str]]:
    """What sayso selects."""
    entries = [
        index_entry(
            {**one, "inputSchema": one.get("schema") or {}},
            server=one.get("server") or "",
            category=one.get("category") or "",
            origin=one["id"],
        )
        for one in tools
    ]
    selector = Selector(entries)
    return lambda said: [one.entry.origin for one in selector.select(said, least=0).chosen]


def plain(
    text: Callable[[Record], str], split: Callable[[str], list[str]]
) -> Callable[[Sequence[Record]], Callable[[str], list[str]]]:
    """BM25 over one text of each tool."""

    def make(tools: Sequence[Record]) -> Callable[[str], list[str]]:
        raws: list[Record] = [{**one, "inputSchema": one.get("schema") or {}} for one in tools]
        index = Plain(map(text, raws), split)
        return lambda said: [tools[place]["id"] for place in index.rank(said)]

    return make


METHODS = {
    "BM25, plain": plain(plain_text, split_plain),
    "BM25, split, stem, parameters": plain(full_text, split_and_stem),
    OURS: ours,
}


def interval(one: Result, other: Result, measure: int) -> tuple[float, float]:
    """Between which differences of means nine of ten samples of the queries lie."""
    chance = random.Random(3)  # noqa: S311 - the same samples each time
    pairs = zip(one.measures, other.measures, strict=True)
    apart = [mine[measure] - theirs[measure] for mine, theirs in pairs]
    means = sorted(
        statistics.fmean(chance.choices(apart, k=len(apart))) for _ in range(SAMPLES // 5)
    )
    return means[len(means) // 20], means[-len(means) // 20]


def show(name: str, tools: int, results: Sequence[Result]) -> None:
    """Print the tables of one set."""
    print(f"{name}: {tools:,} tools, {len(results[0].measures)} queries")
    print(f"{'':<32}" + "".join(f"{one:>9}" for one in (*NAMES, "build s", "ms", "p95 ms")))
    for one in results:
        cells = (*(f"{mean:.3f}" for mean in one.means), *(f"{t:.2f}" for t in one[2:]))
        print(f"{one.method:<32}" + "".join(f"{cell:>9}" for cell in cells))
    for other in results[:-1]:
        told = (interval(results[-1], other, measure) for measure in range(len(NAMES)))
        cells = "".join(
            f"  {name} {low:+.3f} to {high:+.3f}"
            for name, (low, high) in zip(NAMES, told, strict=True)
        )
        print(f"sayso above {other.method} (90 %):{cells}")


def main() -> int:
    """Measure, print, and return 1 where sayso is not clearly better."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")
    options = parser.parse_args()
    folder = os.environ.get("SAYSO_RETRIEVAL")
    if not folder:
        parser.error("SAYSO_RETRIEVAL must name the folder with the tools and queries")
    is_better = True
    told: list[dict[str, Any]] = []
    for path in sorted(Path(folder).glob("*-tools.jsonl")):
        name = path.name.removesuffix("-tools.jsonl")
        tools, queries = read(path), read(path.with_name(f"{name}-queries.jsonl"))
        results = [measure(method, tools, queries, make) for method, make in METHODS.items()]
        is_better &= all(
            interval(results[-1], other, at)[0] > 0 for other in results[:-1] for at in range(3)
        )
        told += [
            {"set": name, "method": one.method, **dict(zip(NAMES, one.means, strict=True))}
            | {"build_s": one.build, "median_ms": one.median, "p95_ms": one.p95}
            for one in results
        ]
        if not options.json:
            show(name, len(tools), results)
    if options.json:
        print(json.dumps({"schema": 1, "results": told}, indent=2))
    return 0 if is_better else 1


if __name__ == "__main__":
    sys.exit(main())
