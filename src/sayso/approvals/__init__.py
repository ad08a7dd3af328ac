"""Approvals: questions to people, whose answers are used once; and grants, which last longer."""

from typing import TYPE_CHECKING

from sayso.lazy import lazily

if TYPE_CHECKING:
    from sayso.approvals.answer import Answer, Strength, check_answer, patched
    from sayso.approvals.confirmation import say_call
    from sayso.approvals.elicitation import (
        FORM,
        MODES_SINCE,
        SEALED_FOR,
        URL,
        Elicit,
        ElicitationChannel,
        Rounds,
        ask_client,
        modes_of,
        take_answer,
    )
    from sayso.approvals.grant import Grant
    from sayso.approvals.ledger import APPROVAL_SECONDS, Approvals, Channel, listening
    from sayso.approvals.link import LinkChannel, LinkHolder, make_token, read_token
    from sayso.approvals.plan import Plan, make_plan, take_plan
    from sayso.approvals.posting import webhook
    from sayso.approvals.question import Approval, Question, make_question
    from sayso.approvals.sentence import ask
    from sayso.approvals.terminal import TerminalChannel
    from sayso.approvals.url_elicitation import (
        UrlElicitationChannel,
        ask_to_open_page,
        is_declined,
        page_of,
    )
    from sayso.approvals.waiting import Waiters
    from sayso.store import ApprovalState


__all__ = [
    "APPROVAL_SECONDS",
    "FORM",
    "MODES_SINCE",
    "SEALED_FOR",
    "URL",
    "Answer",
    "Approval",
    "ApprovalState",
    "Approvals",
    "Channel",
    "Elicit",
    "ElicitationChannel",
    "Grant",
    "LinkChannel",
    "LinkHolder",
    "Plan",
    "Question",
    "Rounds",
    "Strength",
    "TerminalChannel",
    "UrlElicitationChannel",
    "Waiters",
    "ask",
    "ask_client",
    "ask_to_open_page",
    "check_answer",
    "is_declined",
    "listening",
    "make_plan",
    "make_question",
    "make_token",
    "modes_of",
    "page_of",
    "patched",
    "read_token",
    "say_call",
    "take_answer",
    "take_plan",
    "webhook",
]

__getattr__ = lazily(
    __name__,
    {
        "sayso.approvals.answer": ("Answer", "Strength", "check_answer", "patched"),
        "sayso.approvals.confirmation": ("say_call",),
        "sayso.approvals.elicitation": (
            "Elicit",
            "ElicitationChannel",
            "FORM",
            "MODES_SINCE",
            "Rounds",
            "SEALED_FOR",
            "URL",
            "ask_client",
            "modes_of",
            "take_answer",
        ),
        "sayso.approvals.grant": ("Grant",),
        "sayso.approvals.ledger": ("APPROVAL_SECONDS", "Approvals", "Channel", "listening"),
        "sayso.approvals.link": ("LinkChannel", "LinkHolder", "make_token", "read_token"),
        "sayso.approvals.plan": ("Plan", "make_plan", "take_plan"),
        "sayso.approvals.posting": ("webhook",),
        "sayso.approvals.question": ("Approval", "Question", "make_question"),
        "sayso.approvals.sentence": ("ask",),
        "sayso.approvals.terminal": ("TerminalChannel",),
        "sayso.approvals.url_elicitation": (
            "UrlElicitationChannel",
            "ask_to_open_page",
            "is_declined",
            "page_of",
        ),
        "sayso.approvals.waiting": ("Waiters",),
        "sayso.store": ("ApprovalState",),
    },
)
