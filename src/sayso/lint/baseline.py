"""A baseline: findings of a server that was there before the linter, known and not told again.

An entry names server, rule, tool and what it is about, and how often that occurs; no line, no
place in the list and no word of a message, so that edits elsewhere leave it alone.
"""

import json
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import Final, cast

from sayso.errors import ConfigError
from sayso.lint.rule import Finding
from sayso.lint.run import Report
from sayso.lint.subject import as_object

Key = tuple[str, str, str, str]

_SCHEMA: Final = 1
_FIELDS: Final = ("server", "rule", "tool", "about")
_FIX: Final = "Write it again with --write-baseline."


def write_baseline(findings: Iterable[Finding]) -> str:
    """The text of a baseline that holds these findings."""
    counts = Counter(finding.key for finding in findings)
    entries: list[dict[str, object]] = []
    for key, count in sorted(counts.items()):
        entries.append({**dict(zip(_FIELDS, key, strict=True))})
        if count > 1:
            entries[-1]["count"] = count
    return json.dumps({"schema": _SCHEMA, "findings": entries}, indent=1) + "\n"


def read_baseline(value: object, where: str) -> Mapping[Key, int]:
    """What a baseline's JSON holds; raises `ConfigError` for what is none."""
    document = as_object(value)
    entries: object = document.get("findings")
    if document.get("schema") != _SCHEMA or not isinstance(entries, list):
        raise ConfigError("this is no baseline of sayso lint", where=where, fix=_FIX)
    found: Counter[Key] = Counter()
    for index, entry in enumerate(cast("list[object]", entries)):
        record = as_object(entry)
        words = [record.get(name) for name in _FIELDS]
        count = record.get("count", 1)
        if not all(isinstance(word, str) for word in words) or not isinstance(count, int):
            raise ConfigError(f"entry {index} is no finding", where=where, fix=_FIX)
        found[cast("Key", tuple(words))] += count
    return found


def without_known(report: Report, baseline: Mapping[Key, int], looked: Collection[str]) -> Report:
    """The report without what its baseline knows, and with what that knows and is gone.

    Of a rule that is not among those that `looked`, by code, nobody can tell.
    """
    left: Counter[Key] = Counter()
    for key, count in baseline.items():
        server, rule, *_ = key
        if server == report.server and rule in looked:
            left[key] = count
    told: list[Finding] = []
    known: list[Finding] = []
    for finding in report.findings:
        if left[finding.key] > 0:
            left[finding.key] -= 1
            known.append(finding)
        else:
            told.append(finding)
    gone = tuple(sorted(key for key, count in left.items() if count > 0))
    return replace(report, findings=tuple(told), known=tuple(known), gone=gone)
