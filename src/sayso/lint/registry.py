"""The registry of rules: imports every module in `rules` and sorts the rules by code."""

import difflib
import pkgutil
from collections.abc import Iterable
from functools import cache
from importlib import import_module

from sayso.errors import UsageError
from sayso.lint import rules
from sayso.lint.rule import REGISTERED, Rule


@cache
def all_rules() -> tuple[Rule, ...]:
    """Return every rule, sorted by code."""
    for module in pkgutil.iter_modules(rules.__path__, f"{rules.__name__}."):
        import_module(module.name)
    return tuple(sorted(REGISTERED, key=lambda rule: rule.code))


@cache
def _rules_by_word() -> dict[str, Rule]:
    return {word: rule for rule in all_rules() for word in (rule.code.lower(), rule.name)}


def known_rule(word: str) -> Rule | None:
    """Return the rule with this code or name, or `None`."""
    return _rules_by_word().get(word.strip().lower())


def find_rule(word: str) -> Rule:
    """Return the rule with this code or name; raise `UsageError` with a suggestion if unknown."""
    match = known_rule(word)
    if match is not None:
        return match
    fix = "`sayso rule` lists all rules."
    for near in difflib.get_close_matches(word.strip().lower(), _rules_by_word(), n=1):
        rule = _rules_by_word()[near]
        fix = f"Did you mean {rule.code} ({rule.name})? {fix}"
    raise UsageError(f"unknown rule {word!r}", fix=fix)


def find_rules(words: Iterable[str]) -> frozenset[str]:
    """Return the codes of rules given by code, name or prefix of a code (`SS1`)."""
    codes: set[str] = set()
    for word in words:
        prefix = word.strip().upper()
        matches = {rule.code for rule in all_rules() if prefix and rule.code.startswith(prefix)}
        codes |= matches or {find_rule(word).code}
    return frozenset(codes)
