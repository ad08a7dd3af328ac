"""Grants: answers that permit a tool for a conversation, or until a person revokes them."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self

from sayso.approvals.question import Question
from sayso.intent import Span
from sayso.store import GrantRow


@dataclass(frozen=True, slots=True)
class Grant:
    """A permission for more than one call of a tool; times are Unix seconds.

    `arguments` (redacted): the only arguments covered; `None` means any. `approval` is the number
    of the question whose answer created the grant. `holds` is whether the grant is valid now.
    """

    number: int
    span: Span
    subject: str
    client: str
    server: str
    tool: str
    title: str
    level: str
    arguments: Mapping[str, Any] | None
    approval: int
    given_by: str
    channel: str
    created: float
    revoked_at: float | None
    revoked_by: str | None
    last_used: float | None
    uses: int
    holds: bool = True

    def to_dict(self) -> dict[str, Any]:
        return asdict(self) | {"span": str(self.span)}

    @classmethod
    def from_row(cls, row: GrantRow) -> Self:
        body: dict[str, Any] = json.loads(row.body)
        return cls(
            number=row.number,
            span=Span(row.span),
            subject=row.subject,
            client=row.client,
            approval=row.approval,
            given_by=row.given_by,
            channel=row.channel,
            created=row.created,
            revoked_at=row.revoked_at,
            revoked_by=row.revoked_by,
            last_used=row.last_used,
            uses=row.uses,
            holds=row.holds,
            **body,
        )


def read_grant(row: GrantRow) -> Grant | None:
    """Return the grant in a row; `None` for an invalid row."""
    try:
        return Grant.from_row(row)
    except (ValueError, TypeError, KeyError):
        return None


def grant_body(question: Question, *, is_for_arguments: bool) -> str:
    """Return the details of a grant for display, as JSON for the store."""
    return json.dumps(
        {
            "server": question.server,
            "tool": question.tool,
            "title": question.title,
            "level": question.level,
            "arguments": question.arguments if is_for_arguments else None,
        }
    )
