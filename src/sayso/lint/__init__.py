"""A linter for tool lists: rules, profiles, report formats and store submissions."""

from typing import TYPE_CHECKING

from sayso.lazy import lazily
from sayso.lint.profile import Profile, find_profile, profiles
from sayso.lint.registry import all_rules, find_rule, find_rules
from sayso.lint.rule import Edit, Finding, Remark, Rule, Severity
from sayso.lint.run import Choice, Places, Report, choose, lint, make_listing, places_in
from sayso.lint.subject import Deed, Handler, Listing, Subject

if TYPE_CHECKING:
    from sayso.lint.baseline import read_baseline, without_known, write_baseline
    from sayso.lint.definitions import Definition, read_definitions
    from sayso.lint.fix import fix_saved
    from sayso.lint.formats import FORMATS
    from sayso.lint.handbook import page_of, to_dict
    from sayso.lint.source import fix_source, handlers_in
    from sayso.lint.stores import Submission, as_json, as_markdown, find_store, submit


__all__ = [
    "FORMATS",
    "Choice",
    "Deed",
    "Definition",
    "Edit",
    "Finding",
    "Handler",
    "Listing",
    "Places",
    "Profile",
    "Remark",
    "Report",
    "Rule",
    "Severity",
    "Subject",
    "Submission",
    "all_rules",
    "as_json",
    "as_markdown",
    "choose",
    "find_profile",
    "find_rule",
    "find_rules",
    "find_store",
    "fix_saved",
    "fix_source",
    "handlers_in",
    "lint",
    "make_listing",
    "page_of",
    "places_in",
    "profiles",
    "read_baseline",
    "read_definitions",
    "submit",
    "to_dict",
    "without_known",
    "write_baseline",
]

__getattr__ = lazily(
    __name__,
    {
        "sayso.lint.baseline": ("read_baseline", "without_known", "write_baseline"),
        "sayso.lint.definitions": ("Definition", "read_definitions"),
        "sayso.lint.fix": ("fix_saved",),
        "sayso.lint.formats": ("FORMATS",),
        "sayso.lint.handbook": ("page_of", "to_dict"),
        "sayso.lint.source": ("fix_source", "handlers_in"),
        "sayso.lint.stores": ("Submission", "as_json", "as_markdown", "find_store", "submit"),
    },
)
