"""What is wrong with a server's tools: rules, profiles of stores, and ways to tell it."""

from avow.lint.finding import Edit, Finding, Remark, Severity, Step
from avow.lint.handler import Deed, Handler
from avow.lint.profile import Profile, find_profile, profiles
from avow.lint.registry import all_rules, find_rule, find_rules
from avow.lint.rule import HEADINGS, Rule
from avow.lint.run import Choice, Report, choose, lint
from avow.lint.subject import Listing, Subject

__all__ = [
    "HEADINGS",
    "Choice",
    "Deed",
    "Edit",
    "Finding",
    "Handler",
    "Listing",
    "Profile",
    "Remark",
    "Report",
    "Rule",
    "Severity",
    "Step",
    "Subject",
    "all_rules",
    "choose",
    "find_profile",
    "find_rule",
    "find_rules",
    "lint",
    "profiles",
]
