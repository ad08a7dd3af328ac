"""The data that the page of a question shows."""

import json
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Final

import anyio

from sayso.approvals import Approval, ApprovalState, patched
from sayso.catalog import Tool, as_tool, qualify
from sayso.console.approvals.answering import Lasting, Person, digest_of, lasting_choices, objection
from sayso.console.approvals.compared import Compared, compare, last_run
from sayso.console.approvals.editing import Field, fields_of, names_of
from sayso.console.approvals.queue import Seen, look
from sayso.console.words import decider
from sayso.errors import SaysoError
from sayso.gateway import ClusterCalls
from sayso.guard import Guard
from sayso.policy import Principal
from sayso.store import AnswerRow

_TOOL_SECONDS: Final = 1.0


@dataclass(frozen=True, slots=True)
class View:
    """One question for one person.

    `compared` is the difference from the tool's last call, if this person may see other calls.
    `bar` is why this person may not answer. `fields` are the arguments to edit, with their `names`
    for the form. `edit_digest` is the digest of the edit that is shown.
    """

    approval: Approval
    person: Person
    rule: str
    raw: str
    edit_digest: str
    seen: Seen
    answers: list[AnswerRow]
    compared: Compared | None
    sees_others: bool
    bar: str | None = None
    lasting: list[Lasting] = field(default_factory=list[Lasting])
    fields: list[Field] = field(default_factory=list[Field])
    names: str = "[]"

    @property
    def is_open(self) -> bool:
        return self.approval.state is ApprovalState.PENDING

    @property
    def has_agreed(self) -> bool:
        return any(
            answer.person == self.person.name and answer.is_allowed for answer in self.answers
        )

    @property
    def missing(self) -> int:
        return self.approval.question.needed - sum(answer.is_allowed for answer in self.answers)


async def view_of(
    guard: Guard,
    runs: ClusterCalls,
    approval: Approval,
    person: Person,
    *,
    sees_others: bool = True,
) -> View:
    """Return the current view of a question."""
    seen = await look(guard.audit, runs, [approval])
    answers = await guard.approvals.answers(approval.number)
    question = approval.question
    arguments = patched(question.arguments, approval.edit or {})
    compared = None
    if sees_others and (last := await last_run(guard.audit, approval)):
        compared = compare(arguments, last)
    fields: list[Field] = []
    bar = None
    if approval.state is ApprovalState.PENDING:
        tool = await tool_of(guard, approval)
        fields = fields_of(arguments, tool and tool.input_schema)
        bar = objection(approval, person)
    return View(
        approval,
        person,
        rule=rule_in_words(question.rule, question.line, guard.policy().where),
        raw=json.dumps(question.arguments, indent=2),
        edit_digest=digest_of(approval.edit),
        seen=seen,
        answers=answers,
        compared=compared,
        sees_others=sees_others,
        bar=bar,
        lasting=lasting_choices(approval),
        fields=fields,
        names=names_of(fields),
    )


async def tool_of(guard: Guard, approval: Approval) -> Tool | None:
    """Return the question's tool; `None` if it is missing now, or its definition has changed."""
    question = approval.question
    caller = Principal(question.subject, client=question.client, tenant=question.tenant)
    with suppress(SaysoError), anyio.move_on_after(_TOOL_SECONDS):
        tool = await guard.find_tool(qualify(question.server, question.tool), caller)
        if tool is not None and as_tool(tool).fingerprint == question.fingerprint:
            return as_tool(tool)
    return None


def rule_in_words(rule: str, line: int | None, where: str) -> str:
    """Return the rule or mode that asks, with its place in the policy.

    >>> rule_in_words("mode:guarded", None, "policy"), rule_in_words("mail", 7, "/x/policy.toml")
    ('the mode “guarded”; no rule of the policy matches', 'the rule “mail”, policy.toml line 7')
    """
    if rule.startswith("mode:"):
        return f"{decider(rule)}; no rule of the policy matches"
    if line is None:
        return decider(rule)
    return f"{decider(rule)}, {PurePath(where).name} line {line}"
