"""How long a decision takes over 100 typed rules, against the bare in-memory call of the SDK.

The yardstick is one call of an echo tool through the SDK's client on an in-memory server. Both
are measured in turn in the same run; the medians are compared. Then the same for 1,000 rules that
name other tools, servers, levels, tags and callers: beside a decision over ten such rules, they may
add almost nothing. Exits with 1 when a target is missed.

Usage: `python bench/policy.py [--rounds N] [--json]`, with the Python of `.venv`.
"""

import argparse
import json
import statistics
import sys
import time
from collections.abc import Sequence
from typing import NamedTuple

import anyio
from mcp import Client
from mcp.server import MCPServer

from sayso.intent import READ_ONLY, Evidence
from sayso.policy import Policy, Principal, Situation, ToolFacts, decide, load_policy

RULES = 100
LIMIT = 0.2
MANY = 1000
FEW = 10
MANY_LIMIT = 0.01
ROUNDS = 30
CALLS = 20
DECISIONS = 50

KINDS = (
    'effect = "deny"\nwhen = {{ tool = "never_{n}_*", level = "destructive" }}',
    'effect = "confirm"\nwhen = {{ server = "other_{n}", read_only = false, tag = "pii" }}',
    'effect = "allow"\nwhen = {{ role = "lead_{n}", scope = "crm.write" }}',
    (
        'effect = "deny"\n'
        'when = {{ arguments = {{ "customer.amount" = {{ range = {{ min = {n}000 }} }} }} }}'
    ),
    (
        'effect = "allow"\nwhen = {{ level = "write" }}\n'
        'unless = {{ source = {{ destructive = "default" }} }}'
    ),
)
"""None of these denies the call, so all of them are looked at."""


OTHERS = (
    'effect = "deny"\nwhen = {{ tool = "never_{n}" }}',
    'effect = "deny"\nwhen = {{ tool = "never_{n}_*" }}',
    'effect = "confirm"\nwhen = {{ server = "other_{n}" }}',
    'effect = "confirm"\nwhen = {{ level = "destructive" }}',
    'effect = "deny"\nwhen = {{ tag = "tag_{n}" }}',
    'effect = "deny"\nwhen = {{ subject = "somebody_{n}" }}',
)
"""Rules that are not about the call."""


class Result(NamedTuple):
    """Medians in microseconds, and their ratio."""

    call_us: float
    decision_us: float
    ratio: float
    few_us: float
    many_us: float
    is_met: bool

    @property
    def added(self) -> float:
        """What many rules add to a decision over a few, against the bare call."""
        return (self.many_us - self.few_us) / self.call_us


def make_policy(kinds: Sequence[str] = KINDS, count: int = RULES) -> Policy:
    """A policy of so many rules of these kinds."""
    rules = [
        f'[[rules]]\nname = "rule-{n}"\n{kinds[n % len(kinds)].format(n=n + 1)}'
        for n in range(count)
    ]
    return load_policy("\n".join(rules))


def make_situation(policy: Policy, evidence: Evidence = Evidence()) -> Situation:  # noqa: B008 - it never changes
    """A call that no rule is about."""
    facts = ToolFacts("crm", "customer_update", policy.resolve("crm", "x", evidence))
    amy = Principal("amy", "chat", frozenset({"crm.read"}), frozenset({"staff"}))
    return Situation(amy, facts, {"customer": {"id": 7, "amount": 12}})


async def measure(rounds: int) -> Result:
    """Measure both in turn, `rounds` times."""
    policy = make_policy()
    situation = make_situation(policy)
    policies = [make_policy(OTHERS, FEW), make_policy(OTHERS, MANY)]
    others: list[list[float]] = [[], []]
    reading = make_situation(policy, Evidence(READ_ONLY.hints))
    server = MCPServer("echo")

    @server.tool()
    def echo(text: str) -> str:  # pyright: ignore[reportUnusedFunction] - the server calls it
        return text

    calls: list[float] = []
    decisions: list[float] = []
    async with Client(server) as client:
        await client.call_tool("echo", {"text": "warm"})
        for _ in range(rounds):
            start = time.perf_counter()
            for _ in range(CALLS):
                await client.call_tool("echo", {"text": "hello"})
            calls.append((time.perf_counter() - start) / CALLS)
            start = time.perf_counter()
            for _ in range(DECISIONS):
                decide(policy, situation)
            decisions.append((time.perf_counter() - start) / DECISIONS)
            for other, times in zip(policies, others, strict=True):
                start = time.perf_counter()
                for _ in range(DECISIONS):
                    decide(other, reading)
                times.append((time.perf_counter() - start) / DECISIONS)
    call, decision = statistics.median(calls), statistics.median(decisions)
    few, many = (statistics.median(times) for times in others)
    ratio = decision / call
    result = Result(call * 1e6, decision * 1e6, ratio, few * 1e6, many * 1e6, is_met=False)
    return result._replace(is_met=ratio <= LIMIT and result.added <= MANY_LIMIT)


def main() -> int:
    """Measure, print, and return 1 when the target is missed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="how often each is measured")
    parser.add_argument("--json", action="store_true", help="print JSON instead of words")
    options = parser.parse_args()
    if options.rounds < 1:
        parser.error("--rounds must be at least 1")
    result = anyio.run(measure, options.rounds)
    if options.json:
        print(json.dumps({"schema": 1, "limit": LIMIT, **result._asdict()}, indent=2))
    else:
        print(f"bare in-memory call      {result.call_us:9.1f} us")
        print(f"decision over {RULES} rules  {result.decision_us:9.1f} us")
        word = "met" if result.is_met else "MISSED"
        print(f"{word:<7}decision / call: {result.ratio:.3f} of {LIMIT}")
        print(f"decision over {FEW} other rules    {result.few_us:9.1f} us")
        print(f"decision over {MANY} other rules  {result.many_us:9.1f} us")
        print(f"added / call: {result.added:.3f} of {MANY_LIMIT}")
    return 0 if result.is_met else 1


if __name__ == "__main__":
    sys.exit(main())
