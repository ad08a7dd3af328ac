"""Asking a person: one question, one answer, one use; and answers that stand for longer."""

from avow.approvals.answer import Answer, Strength, patched
from avow.approvals.channel import Channel
from avow.approvals.elicitation import Elicit, ElicitationChannel, Rounds, ask_client, take_answer
from avow.approvals.grant import Grant
from avow.approvals.ledger import Approvals, Lifetimes, listening
from avow.approvals.link import LinkChannel, LinkHolder, make_token, read_token, webhook
from avow.approvals.plan import Plan, make_plan, take_plan
from avow.approvals.question import Approval, Question, make_question
from avow.approvals.terminal import TerminalChannel
from avow.approvals.visit import VisitChannel, ask_to_visit, is_declined, page_of
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
    "take_answer",
    "take_plan",
    "webhook",
]
