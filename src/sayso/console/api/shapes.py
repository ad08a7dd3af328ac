"""Tools and questions as the API returns them; `openapi.json` describes their form."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any

from sayso.approvals import Approval, ApprovalState
from sayso.catalog import Tool
from sayso.console.approvals.answering import digest_of, lasting_choices, objection, person_of
from sayso.console.approvals.view import rule_in_words
from sayso.console.entry.login import Session
from sayso.console.entry.roles import Role
from sayso.console.home import HOME
from sayso.console.words import hint_rows
from sayso.intent import HINT_NAMES
from sayso.policy import Policy
from sayso.store import AnswerRow


def tool_shape(tool: Tool) -> dict[str, Any]:
    """Return a tool with its resolved hints."""
    return {
        "name": tool.qualified_name,
        "server": tool.server,
        "tool": tool.name,
        "title": tool.title,
        "description": str(tool.raw.get("description") or ""),
        "level": str(tool.level),
        "hints": _hints(tool.resolved.to_dict()),
        "confirm": tool.intent.confirm,
        "category": tool.intent.category,
        "tags": sorted(tool.intent.tags),
        "input_schema": tool.input_schema,
        "fingerprint": tool.fingerprint,
    }


def approval_shape(
    approval: Approval,
    session: Session,
    policy: Policy,
    *,
    base: str,
    answers: Iterable[AnswerRow] = (),
) -> dict[str, Any]:
    """Return a question, its state, and the answers that this person may give."""
    question = approval.question
    is_open = approval.state is ApprovalState.PENDING
    bar = None
    lasting: list[dict[str, Any]] = []
    if is_open:
        bar = _bar(approval, session)
        lasting = [asdict(choice) for choice in lasting_choices(approval)]
    return {
        "number": approval.number,
        "state": str(approval.state),
        "created": approval.created,
        "expires": approval.expires,
        "answered_at": approval.answered_at,
        "answered_by": approval.answered_by,
        "channel": approval.channel,
        "client": question.client,
        "subject": question.subject,
        "server": question.server,
        "tool": question.tool,
        "title": question.title,
        "description": question.description,
        "level": question.level,
        "hints": _hints(question.hints),
        "findings": [
            {key: finding[key] for key in ("code", "message")} for finding in question.findings
        ],
        "arguments": question.arguments,
        "extras": question.extras,
        "arguments_digest": question.arguments_digest,
        "confirm": question.confirm,
        "sentence": question.sentence,
        "plan": question.plan,
        "reason": question.reason,
        "rule": rule_in_words(question.rule, question.line, policy.where),
        "needed": question.needed,
        "answers": [_answer(answer) for answer in answers],
        "edit": approval.edit,
        "seen": digest_of(approval.edit),
        "may_answer": is_open and bar is None,
        "bar": bar,
        "lasting": lasting,
        "url": f"{base}{HOME}/approvals/{approval.number}",
    }


def _bar(approval: Approval, session: Session) -> str | None:
    if not session.role.covers(Role.APPROVER):
        return "you may view questions but not answer them"
    return objection(approval, person_of(session))


def _hints(hints: Mapping[str, Any]) -> list[dict[str, Any]]:
    rows = zip(HINT_NAMES, hint_rows(hints), strict=True)
    return [
        {
            "hint": name,
            "value": hints[name]["value"],
            "name": row.name,
            "meaning": row.meaning,
            "source": row.source,
        }
        for name, row in rows
    ]


def _answer(row: AnswerRow) -> dict[str, Any]:
    return {
        "person": row.person,
        "is_allowed": row.is_allowed,
        "channel": row.channel,
        "at": row.at,
        "message": row.message,
    }
