"""A person's answer to a question, and the check that this person may give it."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from sayso.approvals.question import Approval
from sayso.errors import UsageError
from sayso.fields import boolean, choice, convert, optional, text, texts
from sayso.intent import Span
from sayso.schema import MASK, canonical

_LONGEST_MESSAGE: Final = 2000


class Strength(StrEnum):
    """The strength of an answer's channel: out of band, or relayed by the calling client."""

    OUT_OF_BAND = "out_of_band"
    RELAYED = "relayed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One person's answer to one question.

    `span` is how long the answer is valid for the tool; with `is_for_arguments`, only these
    arguments are covered. `edit` changes the arguments (JSON Merge Patch, RFC 7396). `seen` is an
    earlier reviewer's edit, to which this person agrees. `message` goes to the agent.
    """

    is_allowed: bool
    by: str
    channel: str
    strength: Strength = Strength.OUT_OF_BAND
    roles: frozenset[str] = frozenset()
    span: Span = Span.ONCE
    is_for_arguments: bool = False
    edit: Mapping[str, Any] | None = None
    seen: Mapping[str, Any] | None = None
    message: str | None = None

    def __post_init__(self) -> None:
        convert(
            self,
            is_allowed=boolean,
            by=text,
            channel=text,
            strength=choice(Strength),
            roles=texts,
            span=choice(Span),
            is_for_arguments=boolean,
            message=optional(text),
        )


def check_answer(answer: Answer, approval: Approval) -> None:
    """Raise `UsageError` if this person may not give this answer."""
    what = (
        _person_fault(answer, approval)
        or _channel_fault(answer, approval)
        or _span_fault(answer, approval)
        or _edit_fault(answer)
    )
    if answer.message is not None and len(answer.message) > _LONGEST_MESSAGE:
        what = what or f"the message is longer than {_LONGEST_MESSAGE:,} characters"
    if what is not None:
        raise UsageError(what, where=f"approval {approval.number}")


def _person_fault(answer: Answer, approval: Approval) -> str | None:
    question = approval.question
    if answer.by == question.subject:
        return f"{answer.by} made this call, so another person must answer"
    if question.is_out_of_band and answer.strength is not Strength.OUT_OF_BAND:
        return "this question must be answered out of band, not through the calling client"
    named = question.reviewers or {}
    subjects = named.get("subjects") or ()
    roles = named.get("roles") or ()
    if not subjects and not roles:
        return None
    if answer.by in subjects or not answer.roles.isdisjoint(roles):
        return None
    may_answer = [*subjects, *(f"the role {role}" for role in roles)]
    return f"only {', '.join(may_answer)} may answer this question"


def _channel_fault(answer: Answer, approval: Approval) -> str | None:
    channels = approval.question.channels
    if not channels or answer.channel in channels:
        return None
    return f"the policy allows no answer over “{answer.channel}”, only over {', '.join(channels)}"


def _span_fault(answer: Answer, approval: Approval) -> str | None:
    if answer.span is Span.ONCE:
        return None
    if not answer.is_allowed:
        return "only an approval can apply to more than one call"
    if answer.edit is not None or answer.seen is not None:
        return "an approval of edited arguments applies to one call only"
    if answer.strength is Strength.RELAYED:
        return "an answer that the client relays applies to one call only"
    longest = Span(approval.question.longest)
    if answer.span.rank > longest.rank:
        return f"the longest validity of an answer to this question is “{longest}”"
    return None


def _edit_fault(answer: Answer) -> str | None:
    if answer.edit is None:
        return None
    if not answer.is_allowed:
        return "only an approval can edit the arguments"
    if MASK in canonical(answer.edit).decode():  # raises for values outside JSON
        return "the edit contains a masked value; leave masked values out"
    return None


def patched(arguments: Mapping[str, Any], edit: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments with an edit applied (RFC 7396): `null` removes a key.

    >>> patched({"to": {"a": 1, "b": 2}, "n": 3}, {"to": {"b": None}, "n": 4})
    {'to': {'a': 1}, 'n': 4}
    """
    result = dict(arguments)
    for key, value in edit.items():
        if value is None:
            result.pop(key, None)
        elif isinstance(value, Mapping):
            inner = result.get(key)
            result[key] = patched(inner if isinstance(inner, Mapping) else {}, value)  # pyright: ignore[reportUnknownArgumentType] - any JSON
        else:
            result[key] = value
    return result
