"""Verdicts on the hints of one tool, computed from graded effects without I/O."""

from sayso.verify.judge.judge import NO_SUCCESS, judge, suspects
from sayso.verify.judge.tool_evidence import Confirmed, Profile, ToolEvidence, claims_of

__all__ = [
    "NO_SUCCESS",
    "Confirmed",
    "Profile",
    "ToolEvidence",
    "claims_of",
    "judge",
    "suspects",
]
