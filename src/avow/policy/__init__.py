"""Who calls, and what may run. Pure: no I/O, no SDK."""

from typing import TYPE_CHECKING

from avow.lazy import lazily
from avow.policy.decision import Decision, Effect, Listing, Mode, Require, Reviewers
from avow.policy.document import MAX_OPEN_QUESTIONS, Limits, Policy, Rule
from avow.policy.engine import decide, is_switched_off, is_visible
from avow.policy.mode import decide_by_mode
from avow.policy.principal import LOCAL, Principal, subject_of
from avow.policy.reserved import is_reserved
from avow.policy.sight import Sight, facts_of, look_at, seen_under
from avow.policy.situation import Past, Situation, ToolFacts
from avow.policy.standing import Standing

if TYPE_CHECKING:
    from avow.policy.cases import Case, CaseResult, load_cases, run_case
    from avow.policy.format import json_schema
    from avow.policy.load import check_policy, load_policy, reload
    from avow.policy.outlook import foresee

__all__ = [
    "LOCAL",
    "MAX_OPEN_QUESTIONS",
    "Case",
    "CaseResult",
    "Decision",
    "Effect",
    "Limits",
    "Listing",
    "Mode",
    "Past",
    "Policy",
    "Principal",
    "Require",
    "Reviewers",
    "Rule",
    "Sight",
    "Situation",
    "Standing",
    "ToolFacts",
    "check_policy",
    "decide",
    "decide_by_mode",
    "facts_of",
    "foresee",
    "is_reserved",
    "is_switched_off",
    "is_visible",
    "json_schema",
    "load_cases",
    "load_policy",
    "look_at",
    "reload",
    "run_case",
    "seen_under",
    "subject_of",
]

__getattr__ = lazily(
    __name__,
    {
        "avow.policy.cases": ("Case", "CaseResult", "load_cases", "run_case"),
        "avow.policy.format": ("json_schema",),
        "avow.policy.load": ("check_policy", "load_policy", "reload"),
        "avow.policy.outlook": ("foresee",),
    },
)
