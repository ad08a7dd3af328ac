"""From a form that a person sent to an answer."""

from collections.abc import Mapping
from typing import Final

from avow.approvals import Answer, Approval
from avow.intent import Span

_VERDICTS: Final = {"allow": True, "deny": False}
_CHOICES: Final[Mapping[str, tuple[Span, bool, str]]] = {
    "once": (Span.ONCE, False, "this one call"),
    "session-call": (Span.SESSION, True, "such calls with these arguments, in this conversation"),
    "session-tool": (Span.SESSION, False, "all calls of this tool, in this conversation"),
    "always-call": (Span.ALWAYS, True, "such calls with these arguments, until it is taken back"),
    "always-tool": (Span.ALWAYS, False, "all calls of this tool, until it is taken back"),
}


def span_choices(approval: Approval) -> list[tuple[str, str]]:
    """How long this question may be answered for, the shortest first: value and words."""
    longest = Span(approval.question.longest)
    if approval.edit is not None:
        longest = Span.ONCE
    return [
        (value, words) for value, (span, _, words) in _CHOICES.items() if span.rank <= longest.rank
    ]


def answer_of(
    form: Mapping[str, str],
    approval: Approval,
    *,
    by: str,
    channel: str,
    roles: frozenset[str] = frozenset(),
) -> Answer | None:
    """What the form says; `None` where that is neither yes nor no, or is for no known time."""
    verdict = _VERDICTS.get(form.get("verdict", ""))
    choice = _CHOICES.get(form.get("span", "once"))
    if verdict is None or choice is None:
        return None
    span, is_for_arguments, _ = choice
    return Answer(
        is_allowed=verdict,
        by=by,
        channel=channel,
        roles=roles,
        span=span if verdict else Span.ONCE,
        is_for_arguments=is_for_arguments,
        seen=approval.edit,
        message=form.get("message", "").strip() or None,
    )
