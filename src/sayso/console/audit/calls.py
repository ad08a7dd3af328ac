"""Logged calls with their lines."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Self

from sayso.audit import Event
from sayso.store import RecordRow


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the log; missing fields of its `body` are empty."""

    call: str
    at: float
    event: str
    body: Mapping[str, Any]

    @classmethod
    def from_row(cls, row: RecordRow) -> Self:
        return cls(row.call, row.at, row.event, json.loads(row.body))

    def __getitem__(self, name: str) -> Any:
        return self.body.get(name, "")


@dataclass(frozen=True, slots=True)
class LoggedCall:
    """A call with its lines, at least one, the oldest first."""

    lines: tuple[Line, ...]

    @property
    def last(self) -> Line:
        return self.lines[-1]

    @property
    def outcome(self) -> str:
        return self.last["outcome"]

    @property
    def begun(self) -> float | None:
        """The time of the first attempt; `None` if nothing was sent."""
        return next((line.at for line in self.lines if line.event == Event.ATTEMPT), None)

    @property
    def approval(self) -> int | None:
        return next((line["approval"] for line in reversed(self.lines) if line["approval"]), None)


def read_calls(rows: Iterable[RecordRow]) -> list[LoggedCall]:
    """Group `rows` (newest first) into calls; rows about the log itself are left out."""
    lines: dict[str, list[Line]] = {}
    for row in rows:
        if row.call:
            lines.setdefault(row.call, []).append(Line.from_row(row))
    return [LoggedCall(tuple(reversed(call))) for call in lines.values()]
