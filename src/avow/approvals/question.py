"""A question to a person, and what its answer is bound to."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from avow.catalog import Tool
from avow.policy import Decision, Principal
from avow.schema import digest, redact
from avow.store import ApprovalRow, ApprovalState


@dataclass(frozen=True, slots=True)
class Question:
    """May `principal` make this one call? `arguments` are redacted; `binding` covers the real ones.

    `findings` and `hints` are as they stood when the question was asked.
    """

    binding: str
    subject: str
    client: str
    server: str
    tool: str
    title: str
    description: str
    level: str
    hints: Mapping[str, Any]
    findings: tuple[Mapping[str, Any], ...]
    fingerprint: str
    arguments: Mapping[str, Any]
    arguments_digest: str
    rule: str
    reason: str

    def to_json(self) -> str:
        """As the store keeps it."""
        body = {name: getattr(self, name) for name in self.__slots__ if name != "binding"}
        return json.dumps(body)

    @classmethod
    def from_row(cls, row: ApprovalRow) -> Self:
        """As the store kept it."""
        body: dict[str, Any] = json.loads(row.body)
        body["findings"] = tuple(body["findings"])
        return cls(binding=row.binding, **body)


@dataclass(frozen=True, slots=True)
class Approval:
    """One question and where it stands; times in Unix seconds.

    `used_by` is the call that it was used for: the id under which the log has that call's end.
    """

    number: int
    state: ApprovalState
    question: Question
    created: float
    expires: float
    answered_at: float | None
    answered_by: str | None
    channel: str | None
    used_by: str | None

    @classmethod
    def from_row(cls, row: ApprovalRow) -> Self:
        """As the store kept it."""
        return cls(
            number=row.number,
            state=row.state,
            question=Question.from_row(row),
            created=row.created,
            expires=row.expires,
            answered_at=row.answered_at,
            answered_by=row.answered_by,
            channel=row.channel,
            used_by=row.used_by,
        )


def make_question(
    principal: Principal,
    tool: Tool,
    arguments: Mapping[str, Any],
    decision: Decision,
    arguments_digest: str,
) -> Question:
    """The question that `decision` asks, bound to caller, tool and exact arguments."""
    bound = {
        "subject": principal.subject,
        "client": principal.client,
        "server": tool.server,
        "origin": tool.origin,
        "tool": tool.name,
        "fingerprint": tool.fingerprint,
        "arguments": arguments_digest,
    }
    return Question(
        binding=digest(bound),
        subject=principal.subject,
        client=principal.client,
        server=tool.server,
        tool=tool.name,
        title=tool.title,
        description=str(tool.raw.get("description") or ""),
        level=str(tool.level),
        hints=tool.resolved.to_dict(),
        findings=tuple(finding.to_dict() for finding in tool.findings),
        fingerprint=tool.fingerprint,
        arguments=redact(arguments),
        arguments_digest=arguments_digest,
        rule=decision.rule,
        reason=decision.reason,
    )
