"""Answers from submitted forms, and the answers that a question offers."""

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Final

from sayso.approvals import Answer, Approval, check_answer
from sayso.console.approvals.editing import difference, read_arguments
from sayso.console.entry.login import Session
from sayso.errors import UsageError
from sayso.intent import Span
from sayso.schema import canonical, quoted

DENY: Final = "deny"
ALLOW: Final = "allow"
EDIT: Final = "edit"

_LASTING: Final[Mapping[str, tuple[Span, bool]]] = {
    "session-call": (Span.SESSION, True),
    "session-tool": (Span.SESSION, False),
    "always-call": (Span.ALWAYS, True),
    "always-tool": (Span.ALWAYS, False),
}
_UNTIL: Final = {
    Span.SESSION: "until {client} has made no call for 30 minutes.",
    Span.ALWAYS: "until you revoke it under Grants, or the tool changes.",
}
_NAMES: Final = {
    "session-call": "Allow for this session, these arguments",
    "session-tool": "Allow for this session, this tool",
    "always-call": "Always allow these arguments",
    "always-tool": "Always allow this tool",
}


@dataclass(frozen=True, slots=True)
class Person:
    """The person who answers, their channel, and their roles as a reviewer."""

    name: str
    channel: str
    roles: frozenset[str] = frozenset()


def person_of(session: Session) -> Person:
    """Return the person of a console session."""
    return Person(session.person, "console", session.roles | {str(session.role)})


@dataclass(frozen=True, slots=True)
class Lasting:
    """An answer for more than one call: its value in the form, name and meaning."""

    value: str
    name: str
    meaning: str


def lasting_choices(approval: Approval) -> list[Lasting]:
    """Return the longer-lasting answers that a question allows, the shortest first."""
    if approval.edit is not None:
        return []
    longest = Span(approval.question.longest)
    return [
        Lasting(value, _NAMES[value], _meaning(approval, span, is_narrow=is_narrow))
        for value, (span, is_narrow) in _LASTING.items()
        if span.rank <= longest.rank
    ]


def objection(approval: Approval, person: Person) -> str | None:
    """Return why this person may not answer a question; `None` if they may."""
    trial = Answer(is_allowed=False, by=person.name, channel=person.channel, roles=person.roles)
    try:
        check_answer(trial, approval)
    except UsageError as error:
        return error.what
    return None


def digest_of(edit: Mapping[str, Any] | None) -> str:
    """Return a short digest of an edit. A form returns it to show which edit the person saw."""
    return "" if not edit else sha256(canonical(edit)).hexdigest()[:16]


def answer_by(person: Person, approval: Approval, form: Mapping[str, Any], **more: Any) -> Answer:
    """Return a person's answer: `form` has the digest of the seen edit, and the message."""
    has_seen = form.get("seen", "") == digest_of(approval.edit)
    return Answer(
        by=person.name,
        channel=person.channel,
        roles=person.roles,
        # Agreement to an edit that the person has not seen does not count.
        seen=approval.edit if has_seen else None,
        message=form.get("message", "").strip() or None,
        **more,
    )


def answer_of(form: Mapping[str, str], approval: Approval, person: Person) -> Answer | None:
    """Return a form's answer; `None` if it has none. Raises `UsageError` for an invalid edit."""
    verdict = form.get("verdict", "")
    if verdict not in {DENY, ALLOW, EDIT, *_LASTING}:
        return None
    span, is_for_arguments = _LASTING.get(verdict, (Span.ONCE, False))
    edit = None
    if verdict == EDIT:
        edit = _edit(form, approval)
    return answer_by(
        person,
        approval,
        form,
        is_allowed=verdict != DENY,
        span=span,
        is_for_arguments=is_for_arguments,
        edit=edit,
    )


def _edit(form: Mapping[str, str], approval: Approval) -> Mapping[str, Any] | None:
    before = approval.question.arguments
    edit = difference(before, read_arguments(form, before))
    if not edit and approval.edit is None:
        raise UsageError(
            "the edit changes nothing", fix="Change an argument, or allow the call as it is."
        )
    if not edit:
        raise UsageError("another reviewer's change cannot be undone", fix="Deny the call instead.")
    if edit == approval.edit:
        return None
    return edit


def _meaning(approval: Approval, span: Span, *, is_narrow: bool) -> str:
    client = quoted(approval.question.client)
    what = f"Every call of this tool by {client}, with any arguments,"
    if is_narrow:
        what = f"The same call by {client}, with these arguments,"
    return f"{what} runs without asking {_UNTIL[span].replace('{client}', client)}"
