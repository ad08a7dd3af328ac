"""Comparison of a call with the tool's last call in the log."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from sayso.approvals import Approval
from sayso.audit import AuditLog, Event, merged
from sayso.console.arguments import ArgumentRow, argument_rows
from sayso.console.audit.calls import Line

_NEWEST_LINES: Final = 1000
_SAME: Final = json.JSONEncoder(sort_keys=True).encode


@dataclass(frozen=True, slots=True)
class Compared:
    """A question's arguments compared with the tool's last call.

    `was` holds the former values of changed arguments, `gone` removed arguments, and `added` the
    names of new ones.
    """

    last: Line
    was: Mapping[str, ArgumentRow]
    gone: tuple[ArgumentRow, ...]
    added: frozenset[str]

    @property
    def is_same(self) -> bool:
        return not (self.was or self.gone or self.added)


def compare(now: Mapping[str, Any], last: Line) -> Compared:
    """Compare the arguments `now` with those of an earlier call."""
    then: Mapping[str, Any] = last["arguments"]
    others = {
        key: value for key, value in then.items() if key in now and not _same(value, now[key])
    }
    gone = {key: value for key, value in then.items() if key not in now}
    rows = {row.name: row for row in argument_rows(others)}
    return Compared(last, rows, tuple(argument_rows(gone)), frozenset(now) - frozenset(then))


async def last_run(log: AuditLog, approval: Approval) -> Line | None:
    """Return the tool's last call before this question; `None` if the newest lines lack one."""
    question = approval.question
    for row in await log.records.newest(limit=_NEWEST_LINES):
        if row.event != Event.ATTEMPT or row.at >= approval.created:
            continue
        line = Line.from_row(row)
        if (line["server"], line["tool"]) == (question.server, question.tool):
            whole = Line.from_row(merged(row))
            if whole["is_erased"]:
                return None
            return whole
    return None


def _same(left: Any, other: Any) -> bool:
    return _SAME(left) == _SAME(other)
