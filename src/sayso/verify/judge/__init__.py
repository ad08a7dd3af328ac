"""What the calls of one tool say of its hints. Pure: effects in, verdicts out."""

from sayso.verify.judge.claim import Claim, claims_of
from sayso.verify.judge.judge import judge, suspects
from sayso.verify.judge.profile import Profile
from sayso.verify.judge.tool_evidence import Confirmed, Hearing

__all__ = ["Claim", "Confirmed", "Hearing", "Profile", "claims_of", "judge", "suspects"]
