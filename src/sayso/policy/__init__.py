"""Callers, policies, and the engine that allows, asks about or denies calls. No I/O, no SDK."""

from typing import TYPE_CHECKING

from sayso.lazy import lazily
from sayso.policy.decision import (
    Decision,
    Effect,
    Listing,
    Mode,
    Require,
    Reviewers,
    decide_by_mode,
)
from sayso.policy.document import ANY, CHANNELS, DEFAULT_CHANNELS, MAX_OPEN_QUESTIONS, Policy
from sayso.policy.engine import decide, is_switched_off, is_visible
from sayso.policy.explanation import Explanation, explain
from sayso.policy.outlook import foresee
from sayso.policy.principal import LOCAL, Principal, subject_of
from sayso.policy.receipts import weigh
from sayso.policy.reserved import is_reserved
from sayso.policy.rule import Limits, Rule
from sayso.policy.situation import Past, Situation, ToolFacts
from sayso.policy.unmatched_rules import misnamed, unmatched, without_dry_run
from sayso.policy.visibility import Sight, Standing, facts_of, look_at, seen_under

if TYPE_CHECKING:
    from sayso.policy.cases import Case, CaseResult, load_cases, run_case
    from sayso.policy.format import json_schema
    from sayso.policy.load import check_policy, load_policy, reload
    from sayso.policy.starting import ServerTools, starting_policy


__all__ = [
    "ANY",
    "CHANNELS",
    "DEFAULT_CHANNELS",
    "LOCAL",
    "MAX_OPEN_QUESTIONS",
    "Case",
    "CaseResult",
    "Decision",
    "Effect",
    "Explanation",
    "Limits",
    "Listing",
    "Mode",
    "Past",
    "Policy",
    "Principal",
    "Require",
    "Reviewers",
    "Rule",
    "ServerTools",
    "Sight",
    "Situation",
    "Standing",
    "ToolFacts",
    "check_policy",
    "decide",
    "decide_by_mode",
    "explain",
    "facts_of",
    "foresee",
    "is_reserved",
    "is_switched_off",
    "is_visible",
    "json_schema",
    "load_cases",
    "load_policy",
    "look_at",
    "misnamed",
    "reload",
    "run_case",
    "seen_under",
    "starting_policy",
    "subject_of",
    "unmatched",
    "weigh",
    "without_dry_run",
]

__getattr__ = lazily(
    __name__,
    {
        "sayso.policy.cases": ("Case", "CaseResult", "load_cases", "run_case"),
        "sayso.policy.format": ("json_schema",),
        "sayso.policy.load": ("check_policy", "load_policy", "reload"),
        "sayso.policy.starting": ("ServerTools", "starting_policy"),
    },
)
