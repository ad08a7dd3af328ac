"""Calls as the log tells of them: each with its lines, and what they come to."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Self

from sayso.audit import Event
from sayso.store import RecordRow


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the log; `body` is all that it says. What it does not say is empty."""

    call: str
    at: float
    event: str
    body: Mapping[str, Any]

    @classmethod
    def from_row(cls, row: RecordRow) -> Self:
        """As the log keeps it."""
        return cls(row.call, row.at, row.event, json.loads(row.body))

    def __getitem__(self, name: str) -> Any:
        """One field of the body."""
        return self.body.get(name, "")


@dataclass(frozen=True, slots=True)
class LoggedCall:
    """One call: at least one line, the oldest first."""

    lines: tuple[Line, ...]

    @property
    def last(self) -> Line:
        """The line that says how the call stands."""
        return self.lines[-1]

    @property
    def outcome(self) -> str:
        """How the call ended; empty while it has not, or while the log does not say so."""
        return self.last["outcome"]

    @property
    def begun(self) -> float | None:
        """When the call was first about to be sent to its server; `None` when it never was."""
        return next((line.at for line in self.lines if line.event == Event.ATTEMPT), None)

    @property
    def approval(self) -> int | None:
        """The number of the question that was asked about this call, if one was."""
        return next((line["approval"] for line in reversed(self.lines) if line["approval"]), None)


def read_calls(rows: Iterable[RecordRow]) -> list[LoggedCall]:
    """The calls that `rows` are of, given and returned newest first; the log's own are of none."""
    lines: dict[str, list[Line]] = {}
    for row in rows:
        if row.call:
            lines.setdefault(row.call, []).append(Line.from_row(row))
    return [LoggedCall(tuple(reversed(call))) for call in lines.values()]
