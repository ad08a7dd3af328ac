"""Asking a person: one question, one answer, one use."""

from avow.approvals.ledger import Approvals, Lifetimes
from avow.approvals.question import Approval, Question, make_question
from avow.store import ApprovalState

__all__ = ["Approval", "ApprovalState", "Approvals", "Lifetimes", "Question", "make_question"]
