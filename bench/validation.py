"""What checking values against schemas costs at worst: 1,000 random pairs of up to 100 KB.

Schemas and values are drawn from a fixed seed, ordinary ones and hostile ones. For each pair the
longest hold of the event loop is taken, and the memory that this process and its workers hold more
than before. A fitting filter of 1 KB is timed beside them. Exits with 1 when a target is missed.

Usage: `python bench/validation.py [--pairs N] [--seed N] [--json]`, with the Python of `.venv`.
"""

import argparse
import asyncio
import contextlib
import json
import os
import random
import statistics
import sys
import time
from typing import Any, Final

from hostile import FILTER, doubling
from load import memory_of

from sayso.errors import UsageError
from sayso.workers import BoundedChecker, checker
from sayso.workers.pool import running_pool

MAX_LOOP_MS: Final = 100.0
MAX_MEMORY_MIB: Final = 200.0
MAX_FILTER_MS: Final = 1.0
_MAX_BYTES: Final = 100_000
_LEAST_BYTES: Final = 8
_PATTERNS: Final = ("^a+$", "(a|b)*c", "^(a+)+$", "(?=a).*b", r"(a+)\\1$", "[a-z]{1,60}")


def draw_schema(source: random.Random, depth: int) -> Any:
    """A schema of any of the keywords that cost something."""
    if depth == 0:
        return source.choice([True, {"type": "string"}, {"type": "integer", "multipleOf": 7}, {}])
    kinds: list[Any] = [
        lambda: {"type": "array", "items": draw_schema(source, depth - 1)},
        lambda: {"properties": {k: draw_schema(source, depth - 1) for k in "abcd"}},
        lambda: {
            word: [draw_schema(source, depth - 1) for _ in range(source.randint(1, 5))]
            for word in source.sample(["allOf", "anyOf", "oneOf"], 1)
        },
        lambda: {"uniqueItems": True, "contains": draw_schema(source, depth - 1)},
        lambda: {"patternProperties": {source.choice(_PATTERNS): draw_schema(source, depth - 1)}},
        lambda: {"pattern": source.choice(_PATTERNS)},
        lambda: {"enum": [[at] for at in range(source.choice([5, 5_000]))]},
        lambda: {"not": draw_schema(source, depth - 1)},
        lambda: {"dependentSchemas": {"a": draw_schema(source, depth - 1)}},
        lambda: {**draw_schema_of_object(source, depth), "unevaluatedProperties": False},
        lambda: {"items": {"$ref": "#"}, "properties": {"a": {"$ref": "#"}, "b": {"$ref": "#"}}},
        lambda: {"anyOf": [{"items": {"$ref": "#"}}, {"properties": {"a": {"$ref": "#"}}}]},
        lambda: doubling(source.choice([4, 12, 28])),
        lambda: FILTER,
    ]
    return source.choice(kinds)()


def draw_schema_of_object(source: random.Random, depth: int) -> dict[str, Any]:
    """A schema of an object that is put together from two."""
    parts = [{"properties": {k: draw_schema(source, depth - 1)}} for k in "ab"]
    return {"allOf": parts}


def draw_value(source: random.Random, size: int, depth: int) -> Any:
    """A value of about so many bytes."""
    if depth == 0 or size < _LEAST_BYTES:
        return source.choice([1, 7 * 10**30, "a" * max(size, 1), "aab" * (size // 3), None, 1.5])
    count = source.choice([1, 2, 10, max(1, size // _LEAST_BYTES)])
    inner = size // count
    if source.choice([True, False]):
        return [draw_value(source, inner, depth - 1) for _ in range(count)]
    names = ["a", "b", "c", "and", "or", "filter", *(f"a{at}" for at in range(count))]
    return {name: draw_value(source, inner, depth - 1) for name in names[:count]}


async def worst_hold(check: Any) -> float:
    """Do one check; the longest that the event loop was held by it, in milliseconds.

    Only this process's own time counts: on a busy machine others take turns too.
    """
    worst, last, is_over = 0.0, time.process_time(), False

    async def beat() -> None:
        nonlocal worst, last
        while not is_over:
            await asyncio.sleep(0)
            now = time.process_time()
            worst, last = max(worst, now - last), now
            await asyncio.sleep(0.0005)
            last = time.process_time()

    beating = asyncio.ensure_future(beat())
    await asyncio.sleep(0)
    with contextlib.suppress(UsageError):
        await check()
    is_over = True
    await beating
    return worst * 1000


async def measure(pairs: int, seed: int) -> tuple[float, float, float]:
    """The longest hold and the most memory of all pairs, and the median time of a filter."""
    source = random.Random(seed)  # noqa: S311 - drawn again the same way
    before, hold, memory = memory_of(os.getpid()), 0.0, 0.0
    for _ in range(pairs):
        schema = draw_schema(source, 3)
        value = draw_value(source, source.choice([100, 1_000, 10_000, _MAX_BYTES]), 4)

        async def check(schema: Any = schema, value: Any = value) -> None:
            await BoundedChecker(schema).problems(value)

        hold = max(hold, await worst_hold(check))
        memory = max(memory, memory_of(os.getpid()) - before)
    condition = {"field": "name", "op": "eq"}
    value = {"filter": {"and": [{"or": [condition] * 4}] * 7}}
    filters, times = BoundedChecker(FILTER), list[float]()
    for _ in range(200):
        begun = time.perf_counter()
        if await filters.problems(value):
            message = "a fitting filter does not fit"
            raise RuntimeError(message)
        times.append((time.perf_counter() - begun) * 1000)
    running_pool().close()
    return hold, memory, statistics.median(times)


def main() -> int:
    """Measure, print, and return 1 when a target is missed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--pairs", type=int, default=1_000, help="how many are drawn")
    parser.add_argument("--seed", type=int, default=16, help="what they are drawn from")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    options = parser.parse_args()
    # What is undecided after 2 seconds is so after less: 1,000 pairs are to end today.
    checker.CHECK_SECONDS = 0.2
    hold, memory, filtered = asyncio.run(measure(options.pairs, options.seed))
    results = [
        ("longest hold of the event loop, ms", hold, MAX_LOOP_MS),
        ("memory beside what was held before, MiB", memory, MAX_MEMORY_MIB),
        ("a fitting filter of 1 KB, ms", filtered, MAX_FILTER_MS),
    ]
    if options.json:
        told = [{"name": name, "seen": seen, "target": most} for name, seen, most in results]
        print(json.dumps({"schema": 1, "results": told}, indent=2))
    else:
        for name, seen, most in results:
            word = "met" if seen <= most else "MISSED"
            print(f"{name:<44}{seen:>9.2f}{most:>9.2f}  {word}")
    return 0 if all(seen <= most for _, seen, most in results) else 1


if __name__ == "__main__":
    sys.exit(main())
