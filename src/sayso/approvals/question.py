"""A question to a person, and the digests that bind its answer to one call."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Final, Self

from sayso.approvals.confirmation import fill, sentence_of
from sayso.approvals.plan import Plan
from sayso.catalog import Tool
from sayso.intent import Level, Source, Span, shortest
from sayso.policy import Decision, Principal, Require
from sayso.schema import bounded, digest, digest_exactly, redact
from sayso.store import ApprovalRow, ApprovalState


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question to a person, whether the principal may make a call.

    `arguments` are redacted; `binding` is a digest of the real ones. `findings` and `hints` are
    those at the time of asking. `confirm` is the author's sentence, filled in; `sentence` is
    sayso's. `plan` has the call's changes. Empty `channels` mean any channel. `longest` is the
    longest validity. A grant has `tool_binding` (any arguments) or `call_binding` (only these).
    `extras` are other redacted inputs, by request member; a grant covers only the same extras.
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
    line: int | None = None
    confirm: str | None = None
    sentence: str | None = None
    plan: Mapping[str, Any] | None = None
    plan_digest: str = ""
    require: str | None = None
    reviewers: Mapping[str, Any] | None = None
    expires: float | None = None
    channels: tuple[str, ...] = ()
    longest: str = Span.ONCE
    tool_binding: str = ""
    call_binding: str = ""
    extras: Mapping[str, Any] = field(default_factory=dict[str, Any])
    tenant: str | None = None

    @property
    def account(self) -> str:
        """The caller's key for grants and limits: its subject with its tenant."""
        return Principal(self.subject, tenant=self.tenant).account

    @property
    def needed(self) -> int:
        return int((self.reviewers or {}).get("count", 1))

    @property
    def is_out_of_band(self) -> bool:
        return self.require not in (None, Require.ANY)

    @property
    def names_people(self) -> bool:
        named = self.reviewers or {}
        return bool(named.get("subjects") or named.get("roles"))

    def to_json(self) -> str:
        fields = {name: getattr(self, name) for name in _FIELDS - {"binding"}}
        return json.dumps({**fields, "account": self.account})

    @classmethod
    def from_row(cls, row: ApprovalRow) -> Self:
        body: dict[str, Any] = json.loads(row.body)
        body["findings"] = tuple(body["findings"])
        body["channels"] = tuple(body.get("channels", ()))
        return cls(binding=row.binding, **{name: body[name] for name in body if name in _FIELDS})


_FIELDS: Final = frozenset(part.name for part in fields(Question))


@dataclass(frozen=True, slots=True)
class Approval:
    """A question and its state; times are Unix seconds.

    `used_by` is the call that used the approval. `edit` is a reviewer's change of the arguments.
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
    edit: Mapping[str, Any] | None = None

    @classmethod
    def from_row(cls, row: ApprovalRow) -> Self:
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
            edit=json.loads(row.edit) if row.edit else None,
        )


def make_question(
    principal: Principal,
    tool: Tool,
    arguments: Mapping[str, Any],
    decision: Decision,
    arguments_digest: str,
    *,
    plan: Plan | None = None,
    extras: Mapping[str, Any] | None = None,
    channels: Iterable[str] = (),
) -> Question:
    """Make the question of `decision`, bound to caller, tool, exact arguments and plan.

    The policy's requirements bind it too: answers given under weaker requirements do not count.
    """
    reviewers = decision.reviewers and decision.reviewers.to_dict()
    require = decision.require and str(decision.require)
    bound = {**_call_of(principal, tool), "require": require, "reviewers": reviewers}
    standing = {**bound, "hints": tool.resolved.hints_dict}
    if extras:
        standing["extras"] = digest_exactly(extras)
    plan_digest = ""
    known = redact(arguments)
    if plan is not None:
        plan_digest = plan.digest
        known = {**known, **redact(plan.facts)}
    return Question(
        binding=digest({**bound, "arguments": arguments_digest, "plan": plan_digest}),
        subject=principal.subject,
        tenant=principal.tenant,
        client=principal.client,
        server=tool.server,
        tool=tool.name,
        title=tool.title,
        description=str(tool.raw.get("description") or ""),
        level=str(tool.level),
        hints=_hints(tool),
        findings=tuple(finding.to_dict() for finding in tool.findings),
        fingerprint=tool.fingerprint,
        arguments=bounded(redact(arguments)),
        arguments_digest=arguments_digest,
        rule=decision.rule,
        reason=decision.reason,
        line=decision.line,
        confirm=tool.intent.confirm and fill(tool.intent.confirm, known),
        sentence=sentence_of(tool.title, tool.level, known),
        plan=plan and plan.to_dict(),
        plan_digest=plan_digest,
        require=require,
        reviewers=reviewers,
        expires=decision.expires,
        channels=tuple(sorted(channels)),
        longest=_longest(tool, decision),
        tool_binding=digest({**standing, "grant": "tool"}),
        extras=redact(extras or {}),
        call_binding=digest({**standing, "grant": "call", "arguments": arguments_digest}),
    )


def _call_of(principal: Principal, tool: Tool) -> dict[str, Any]:
    return {
        "subject": principal.account,
        "client": principal.client,
        "server": tool.server,
        "origin": tool.origin,
        "tool": tool.name,
        "fingerprint": tool.fingerprint,
    }


def _hints(tool: Tool) -> dict[str, Any]:
    """Return the hints with their sources, and the confidence of inferred ones."""
    hints: dict[str, Any] = tool.resolved.to_dict()
    for name, guess in tool.inferred.items():
        if hints[name]["source"] == Source.INFERRED:
            hints[name]["confidence"] = guess.confidence
    return hints


def _longest(tool: Tool, decision: Decision) -> Span:
    """Return the longest validity of an answer.

    If several reviewers are needed, it is one call. Otherwise the rule sets it; by default, it is a
    conversation for a destructive tool, and unlimited for others. The author can only shorten it.
    """
    if decision.reviewers is not None and decision.reviewers.count > 1:
        return Span.ONCE
    usual = Span.ALWAYS
    if tool.level is Level.DESTRUCTIVE:
        usual = Span.SESSION
    return shortest(decision.grant or usual, tool.intent.grant) or Span.ONCE
