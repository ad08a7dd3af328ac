"""Baselines: known findings that are not reported again.

An entry has the server, the rule, the tool, the path and a count. It has no line, position or
message, so unrelated edits do not affect it.
"""

import json
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import Final, cast

from sayso.errors import ConfigError
from sayso.lint.rule import Finding
from sayso.lint.run import Report
from sayso.schema import object_of

Key = tuple[str, str, str, str]

_SCHEMA: Final = 1
_FIELDS: Final = ("server", "rule", "tool", "about")
_FIX: Final = "Write the baseline again with --write-baseline."


def write_baseline(findings: Iterable[Finding]) -> str:
    """Return the text of a baseline with these findings."""
    counts = Counter(finding.key for finding in findings)
    entries: list[dict[str, object]] = []
    for key, count in sorted(counts.items()):
        entries.append({**dict(zip(_FIELDS, key, strict=True))})
        if count > 1:
            entries[-1]["count"] = count
    return json.dumps({"schema": _SCHEMA, "findings": entries}, indent=1) + "\n"


def read_baseline(value: object, where: str) -> Mapping[Key, int]:
    """Return the counts in a baseline's JSON; raise `ConfigError` if it is invalid."""
    document = object_of(value)
    entries: object = document.get("findings")
    if document.get("schema") != _SCHEMA or not isinstance(entries, list):
        raise ConfigError("not a baseline of sayso lint", where=where, fix=_FIX)
    counts: Counter[Key] = Counter()
    for index, entry in enumerate(cast("list[object]", entries)):
        record = object_of(entry)
        words = [record.get(name) for name in _FIELDS]
        count = record.get("count", 1)
        if not all(isinstance(word, str) for word in words) or not isinstance(count, int):
            raise ConfigError(f"entry {index} is not a finding", where=where, fix=_FIX)
        counts[cast("Key", tuple(words))] += count
    return counts


def without_known(report: Report, baseline: Mapping[Key, int], ran: Collection[str]) -> Report:
    """Return the report with the baseline's findings in `known` and its obsolete entries in `gone`.

    `ran` are the codes of the rules that ran; entries of other rules are ignored.
    """
    remaining: Counter[Key] = Counter()
    for key, count in baseline.items():
        server, rule, *_ = key
        if server == report.server and rule in ran:
            remaining[key] = count
    new: list[Finding] = []
    known: list[Finding] = []
    for finding in report.findings:
        if remaining[finding.key] > 0:
            remaining[finding.key] -= 1
            known.append(finding)
        else:
            new.append(finding)
    gone = tuple(sorted(key for key, count in remaining.items() if count > 0))
    return replace(report, findings=tuple(new), known=tuple(known), gone=gone)
