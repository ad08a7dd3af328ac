"""Which rules decide how many calls: counted in the newest lines of the log."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from sayso.audit import AuditLog
from sayso.policy import Policy
from sayso.store import Prefilter, RecordRow

LINES: Final = 5_000
"""How many of the newest lines are looked at."""


@dataclass(frozen=True, slots=True)
class Firing:
    """One rule and what it said: of how many calls, and when the last of them was.

    A rule stands here once; a mode, which says this of one call and that of another, for each.

    `line` is where it stands in the policy; `None` for what is no rule of that file: the mode, a
    limit, a rule that is there no more.
    """

    rule: str
    effect: str
    line: int | None
    calls: int
    last: float | None


@dataclass(frozen=True, slots=True)
class Firings:
    """All rules, those that decided most first; `since` is how far back was looked."""

    rows: tuple[Firing, ...]
    calls: int
    since: float | None


async def count_firings(log: AuditLog, policy: Policy) -> Firings:
    """Count what the newest calls were decided by."""
    first, last = await log.records.bounds()
    low = max(first, last - LINES + 1)
    rows = await log.records.matching(Prefilter(), low, last, limit=LINES)
    return counted(rows, policy)


def counted(rows: Iterable[RecordRow], policy: Policy) -> Firings:
    """The count of what `rows`, newest first, were decided by; rules without any are there too."""
    found: dict[tuple[str, str], tuple[int, float]] = {}
    since = None
    calls = 0
    for row in rows:
        since = row.at
        body: dict[str, Any] = json.loads(row.body)
        if rule := body.get("rule"):
            calls += 1
            key = (rule, body.get("decision", ""))
            count, last = found.get(key, (0, row.at))
            found[key] = (count + 1, last)
    lines = {entry.name: entry.line for entry in policy.rules}
    firings = [
        Firing(rule, effect, lines.get(rule), count, last)
        for (rule, effect), (count, last) in found.items()
    ]
    fired = {rule for rule, _ in found}
    firings += [
        Firing(entry.name, str(entry.effect), entry.line, 0, None)
        for entry in policy.rules
        if entry.name not in fired
    ]
    firings.sort(key=lambda firing: (-firing.calls, firing.line or 0, firing.rule))
    return Firings(tuple(firings), calls, since)
