"""Everything on record about one call: its lines, its question and the answers."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from sayso.approvals import Approval, Approvals
from sayso.audit import AuditLog, to_dict
from sayso.console.audit.calls import Line, LoggedCall
from sayso.store import AnswerRow, RecordRow

MOST_LINES: Final = 100


@dataclass(frozen=True, slots=True)
class Place:
    """A line of the log with its place in its writer's chain. `whole` is the line as JSON."""

    line: Line
    seq: int
    writer: str
    index: int
    mac: str
    digest: str
    is_erased: bool
    whole: str

    @classmethod
    def of(cls, row: RecordRow) -> "Place":
        whole = json.dumps(to_dict(row), indent=2, ensure_ascii=False)
        return cls(
            line=Line.from_row(row),
            seq=row.seq,
            writer=row.writer,
            index=row.index,
            mac=row.mac,
            digest=row.digest,
            is_erased=bool(row.digest) and row.payload is None,
            whole=whole,
        )


@dataclass(frozen=True, slots=True)
class Evidence:
    """A call with its lines, and its question with the answers."""

    places: tuple[Place, ...]
    approval: Approval | None
    answers: tuple[AnswerRow, ...]

    @property
    def call(self) -> LoggedCall:
        return LoggedCall(tuple(place.line for place in self.places))

    @property
    def is_erased(self) -> bool:
        return any(place.is_erased for place in self.places)

    def field(self, name: str) -> Any:
        return next((place.line[name] for place in reversed(self.places) if place.line[name]), "")

    @property
    def hints(self) -> Mapping[str, Any]:
        return self.field("hints") or {}


async def gather(log: AuditLog, approvals: Approvals, call: str) -> Evidence | None:
    """Return the evidence of a call; `None` if it is not on record."""
    if not call or not (rows := await log.newest(call=call, limit=MOST_LINES)):
        return None
    places = tuple(Place.of(row) for row in reversed(rows))
    number = LoggedCall(tuple(place.line for place in places)).approval
    if number is None:
        return Evidence(places, None, ())
    answers = await approvals.answers(number)
    return Evidence(places, await approvals.find(number), tuple(answers))
