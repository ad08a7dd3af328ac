"""Asking a person: one question, one answer, one use; and answers that stand for longer."""

from typing import TYPE_CHECKING

from avow.lazy import lazily

if TYPE_CHECKING:
    from avow.approvals.answer import Answer, Strength, patched
    from avow.approvals.channel import Channel
    from avow.approvals.elicitation import (
        Elicit,
        ElicitationChannel,
        Rounds,
        ask_client,
        take_answer,
    )
    from avow.approvals.grant import Grant
    from avow.approvals.ledger import Approvals, Lifetimes, listening
    from avow.approvals.link import LinkChannel, LinkHolder, make_token, read_token
    from avow.approvals.plan import Plan, make_plan, take_plan
    from avow.approvals.posting import webhook
    from avow.approvals.question import Approval, Question, make_question
    from avow.approvals.summary import say_call
    from avow.approvals.terminal import TerminalChannel
    from avow.approvals.visit import VisitChannel, ask_to_visit, is_declined, page_of
    from avow.approvals.waiting import Waiters
    from avow.store import ApprovalState

__all__ = [
    "Answer",
    "Approval",
    "ApprovalState",
    "Approvals",
    "Channel",
    "Elicit",
    "ElicitationChannel",
    "Grant",
    "Lifetimes",
    "LinkChannel",
    "LinkHolder",
    "Plan",
    "Question",
    "Rounds",
    "Strength",
    "TerminalChannel",
    "VisitChannel",
    "Waiters",
    "ask_client",
    "ask_to_visit",
    "is_declined",
    "listening",
    "make_plan",
    "make_question",
    "make_token",
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
        "avow.approvals.answer": ("Answer", "Strength", "patched"),
        "avow.approvals.channel": ("Channel",),
        "avow.approvals.elicitation": (
            "Elicit",
            "ElicitationChannel",
            "Rounds",
            "ask_client",
            "take_answer",
        ),
        "avow.approvals.grant": ("Grant",),
        "avow.approvals.ledger": ("Approvals", "Lifetimes", "listening"),
        "avow.approvals.link": ("LinkChannel", "LinkHolder", "make_token", "read_token"),
        "avow.approvals.posting": ("webhook",),
        "avow.approvals.plan": ("Plan", "make_plan", "take_plan"),
        "avow.approvals.question": ("Approval", "Question", "make_question"),
        "avow.approvals.summary": ("say_call",),
        "avow.approvals.terminal": ("TerminalChannel",),
        "avow.approvals.visit": ("VisitChannel", "ask_to_visit", "is_declined", "page_of"),
        "avow.approvals.waiting": ("Waiters",),
        "avow.store": ("ApprovalState",),
    },
)
