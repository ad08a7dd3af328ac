"""All rules: one module each in `rules`, found by looking there, in the order of their codes."""

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
    """Every rule, by code."""
    for module in pkgutil.iter_modules(rules.__path__, f"{rules.__name__}."):
        import_module(module.name)
    return tuple(sorted(REGISTERED, key=lambda rule: rule.code))


@cache
def _known() -> dict[str, Rule]:
    return {word: rule for rule in all_rules() for word in (rule.code.lower(), rule.name)}


def known_rule(word: str) -> Rule | None:
    """The rule of this code or name, if there is one."""
    return _known().get(word.strip().lower())


def find_rule(word: str) -> Rule:
    """The rule of this code or name. Raises `UsageError` with what was probably meant."""
    found = known_rule(word)
    if found is not None:
        return found
    fix = "sayso rule lists them."
    for near in difflib.get_close_matches(word.strip().lower(), _known(), n=1):
        rule = _known()[near]
        fix = f"Did you mean {rule.code} ({rule.name})? {fix}"
    raise UsageError(f"there is no rule {word!r}", fix=fix)


def find_rules(words: Iterable[str]) -> frozenset[str]:
    """The codes of rules by code, by name, or by the beginning of a code (`SS1`)."""
    found: set[str] = set()
    for word in words:
        prefix = word.strip().upper()
        some = {rule.code for rule in all_rules() if prefix and rule.code.startswith(prefix)}
        found |= some or {find_rule(word).code}
    return frozenset(found)
