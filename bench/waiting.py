"""How much of a core calls cost that wait for a person.

Calls of a destructive tool go through the guard and wait; nobody answers. Measured is the
processor time of the process while they wait, for several numbers of calls, and how long an answer
takes to reach a waiting call: one given in this process, and one given through another connection
to the same SQLite file. The loop's own cost with no calls is subtracted. Exits with 1 when a target
is missed.

Usage: `python bench/waiting.py [--calls N] [--seconds S] [--progress] [--json]`, with the Python of
`.venv`. With `--progress` all callers ask for progress, which is sent every five seconds.
"""

import argparse
import asyncio
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import anyio

from sayso.approvals import Answer, Approvals, listening
from sayso.audit import open_audit
from sayso.catalog import Tool, make_tool
from sayso.guard import Call, Guard
from sayso.keys import load_keys
from sayso.policy import LOCAL, Policy, Principal
from sayso.store import open_store

CALLS = 3000
SECONDS = 10.0
MOST_OF_A_CORE = 0.03
MOST_ANSWER_SECONDS = 0.6
ANSWERS = 9

TOOL = make_tool("demo", {"name": "delete", "inputSchema": {"type": "object"}})


class Cost(NamedTuple):
    """What waiting calls cost: a share of one core, and seconds until an answer is seen."""

    calls: int
    share_of_core: float
    here_seconds: float
    elsewhere_seconds: float
    is_met: bool


@dataclass(slots=True)
class Waiting:
    """A guard with calls that wait, each for a question of its own."""

    guard: Guard
    has_progress: bool
    ended: dict[int, float] = field(default_factory=dict[int, float])

    async def call(self, number: int) -> None:
        """Make one call, and note when it came back."""
        options: dict[str, Any] = {"progress": ignored} if self.has_progress else {}
        principal = Principal(LOCAL, client=f"client{number}")
        await self.guard.call(principal, "delete", {"n": number}, **options)
        self.ended[number] = time.perf_counter()


async def ignored(_done: float, _total: float | None, _message: str | None) -> None:
    """Take progress and do nothing with it."""


async def measure(folder: Path, calls: int, seconds: float, *, has_progress: bool) -> Cost:
    """Let calls wait, and weigh the processor time meanwhile."""
    url = f"sqlite:{folder / f'{calls}.db'}"
    store, other = open_store(url), open_store(url)
    keys = load_keys(folder / f"{calls}.db", is_made=True)
    approvals = Approvals.of(store)

    async def find(_name: str, _principal: Principal, /, *, is_fresh: bool = False) -> Tool:
        del is_fresh
        return TOOL

    async def run(_: Call) -> dict[str, Any]:
        return {"content": []}

    share = here = elsewhere = 0.0
    async with open_audit(store, keys) as audit, listening(approvals):
        guard = Guard(
            find,
            run,
            approvals,
            audit,
            store.claims,
            console="http://127.0.0.1:1",
            patience=3600.0,
            policy=lambda: Policy(open_per_caller=calls),
        )
        waiting = Waiting(guard, has_progress)
        async with anyio.create_task_group() as group:
            for number in range(calls):
                group.start_soon(waiting.call, number)
            while len(await approvals.pending(calls)) < calls:  # noqa: ASYNC110 - as anybody would
                await anyio.sleep(0.2)
            await anyio.sleep(2)
            began = time.process_time()
            await anyio.sleep(seconds)
            share = (time.process_time() - began) / seconds
            here = await answered(waiting, approvals, range(ANSWERS))
            elsewhere = await answered(waiting, Approvals.of(other), range(ANSWERS, 2 * ANSWERS))
            group.cancel_scope.cancel()
    await other.close()
    await store.close()
    return Cost(calls, share, here, elsewhere, is_met=False)


async def answered(waiting: Waiting, approvals: Approvals, numbers: Iterable[int]) -> float:
    """Answer some calls one after another; return the median of how long each took to end."""
    questions = {
        approval.question.arguments["n"]: approval.number
        for approval in await approvals.pending(1_000_000)
    }
    took: list[float] = []
    for number in numbers:
        # Not in step with whoever looks at regular times.
        await anyio.sleep(0.137)
        began = time.perf_counter()
        await approvals.answer(
            questions[number], Answer(is_allowed=False, by="bo", channel="console")
        )
        while number not in waiting.ended:  # noqa: ASYNC110 - as anybody would
            await anyio.sleep(0.002)
        took.append(waiting.ended[number] - began)
    return statistics.median(took)


def main() -> int:
    """Measure, print, and return 1 when a target is missed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--calls", type=int, default=CALLS, help="how many calls wait at most")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="how long is measured")
    parser.add_argument("--progress", action="store_true", help="callers ask for progress")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    options = parser.parse_args()
    if options.calls < 2 * ANSWERS:
        parser.error(f"--calls must be at least {2 * ANSWERS}")
    costs: list[Cost] = []
    with tempfile.TemporaryDirectory(prefix="sayso-bench-") as folder:
        for calls in (2 * ANSWERS, options.calls // 3, options.calls):
            cost = asyncio.run(
                measure(
                    Path(folder), max(calls, 2 * ANSWERS), options.seconds,
                    has_progress=options.progress,
                )
            )  # fmt: skip
            costs.append(cost)
    idle = costs[0].share_of_core
    results = [
        cost._replace(
            is_met=cost.share_of_core - idle < MOST_OF_A_CORE
            and max(cost.here_seconds, cost.elsewhere_seconds) < MOST_ANSWER_SECONDS
        )
        for cost in costs
    ]
    if options.json:
        print(json.dumps({"schema": 1, "results": [one._asdict() for one in results]}, indent=2))
    else:
        print(f"{'waiting calls':<15}{'of a core':>10}{'answer here':>14}{'elsewhere':>12}")
        for one in results:
            word = "met" if one.is_met else "MISSED"
            line = f"{one.calls:<15}{one.share_of_core:>10.1%}{one.here_seconds * 1000:>11.0f} ms"
            print(f"{line}{one.elsewhere_seconds * 1000:>9.0f} ms  {word}")
    return 0 if all(one.is_met for one in results) else 1


if __name__ == "__main__":
    sys.exit(main())
