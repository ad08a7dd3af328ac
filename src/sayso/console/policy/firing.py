"""The number of calls that each rule decided, counted in the newest lines of the log."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from sayso.audit import AuditLog
from sayso.policy import Policy
from sayso.store import Prefilter, RecordRow

LINES: Final = 5_000
"""The number of lines that are counted."""


@dataclass(frozen=True, slots=True)
class Firing:
    """A rule with an effect, the number of calls it decided, and the time of the last one.

    `line` is the rule's line in the policy; `None` for modes, limits and removed rules.
    """

    rule: str
    effect: str
    line: int | None
    calls: int
    last: float | None


@dataclass(frozen=True, slots=True)
class Firings:
    """All rules, the most used first; `since` is the time of the oldest counted line."""

    rows: tuple[Firing, ...]
    calls: int
    since: float | None


async def count_firings(log: AuditLog, policy: Policy) -> Firings:
    """Count the rules that decided the newest calls."""
    first, last = await log.records.bounds()
    low = max(first, last - LINES + 1)
    rows = await log.records.matching(Prefilter(), low, last, limit=LINES)
    return counted(rows, policy)


def counted(rows: Iterable[RecordRow], policy: Policy) -> Firings:
    """Count the rules that decided `rows` (newest first), including unused rules."""
    uses: dict[tuple[str, str], tuple[int, float]] = {}
    since = None
    calls = 0
    for row in rows:
        since = row.at
        body: dict[str, Any] = json.loads(row.body)
        if rule := body.get("rule"):
            calls += 1
            key = (rule, body.get("decision", ""))
            count, last = uses.get(key, (0, row.at))
            uses[key] = (count + 1, last)
    lines = {entry.name: entry.line for entry in policy.rules}
    firings = [
        Firing(rule, effect, lines.get(rule), count, last)
        for (rule, effect), (count, last) in uses.items()
    ]
    fired = {rule for rule, _ in uses}
    firings += [
        Firing(entry.name, str(entry.effect), entry.line, 0, None)
        for entry in policy.rules
        if entry.name not in fired
    ]
    firings.sort(key=lambda firing: (-firing.calls, firing.line or 0, firing.rule))
    return Firings(tuple(firings), calls, since)
