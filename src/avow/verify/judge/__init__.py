"""What the calls of one tool say of its hints. Pure: effects in, verdicts out."""

from avow.verify.judge.claim import Claim, claims_of
from avow.verify.judge.hearing import Confirmed, Hearing
from avow.verify.judge.judge import judge, suspects
from avow.verify.judge.profile import Profile

__all__ = ["Claim", "Confirmed", "Hearing", "Profile", "claims_of", "judge", "suspects"]
