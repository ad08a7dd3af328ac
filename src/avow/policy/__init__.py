"""Who calls, and what may run. Pure: no I/O, no SDK."""

from avow.policy.cases import Case, CaseResult, load_cases, run_case
from avow.policy.decision import Decision, Effect, Mode, Require, Reviewers
from avow.policy.document import Limits, Policy, Rule
from avow.policy.engine import decide, is_visible
from avow.policy.explain import Explanation, RuleReport, explain
from avow.policy.format import json_schema
from avow.policy.load import load_policy, reload
from avow.policy.mode import decide_by_mode
from avow.policy.outlook import foresee
from avow.policy.principal import LOCAL, Principal
from avow.policy.sight import Sight, facts_of, seen_under
from avow.policy.situation import Past, Situation, ToolFacts

__all__ = [
    "LOCAL",
    "Case",
    "CaseResult",
    "Decision",
    "Effect",
    "Explanation",
    "Limits",
    "Mode",
    "Past",
    "Policy",
    "Principal",
    "Require",
    "Reviewers",
    "Rule",
    "RuleReport",
    "Sight",
    "Situation",
    "ToolFacts",
    "decide",
    "decide_by_mode",
    "explain",
    "facts_of",
    "foresee",
    "is_visible",
    "json_schema",
    "load_cases",
    "load_policy",
    "reload",
    "run_case",
    "seen_under",
]
