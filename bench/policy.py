"""How long a decision takes over 100 typed rules, against the bare in-memory call of the SDK.

The yardstick is one call of an echo tool through the SDK's client on an in-memory server. Both
are measured in turn in the same run; the medians are compared. Exits with 1 when the target is
missed.

Usage: `python bench/policy.py [--rounds N] [--json]`, with the Python of `.venv`.
"""

import argparse
import json
import statistics
import sys
import time
from typing import NamedTuple

import anyio
from mcp import Client
from mcp.server import MCPServer

from avow.intent import Evidence
from avow.policy import Policy, Principal, Situation, ToolFacts, decide, load_policy

RULES = 100
LIMIT = 0.2
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


class Result(NamedTuple):
    """Medians in microseconds, and their ratio."""

    call_us: float
    decision_us: float
    ratio: float
    is_met: bool


def make_policy() -> Policy:
    """A policy of 100 rules of five kinds."""
    rules = [
        f'[[rules]]\nname = "rule-{n}"\n{KINDS[n % len(KINDS)].format(n=n + 1)}'
        for n in range(RULES)
    ]
    return load_policy("\n".join(rules))


def make_situation(policy: Policy) -> Situation:
    """A call that no rule is about."""
    facts = ToolFacts("crm", "customer_update", policy.resolve("crm", "x", Evidence()))
    amy = Principal("amy", "chat", frozenset({"crm.read"}), frozenset({"staff"}))
    return Situation(amy, facts, {"customer": {"id": 7, "amount": 12}})


async def measure(rounds: int) -> Result:
    """Measure both in turn, `rounds` times."""
    policy = make_policy()
    situation = make_situation(policy)
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
    call, decision = statistics.median(calls), statistics.median(decisions)
    ratio = decision / call
    return Result(call * 1e6, decision * 1e6, ratio, ratio <= LIMIT)


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
    return 0 if result.is_met else 1


if __name__ == "__main__":
    sys.exit(main())
