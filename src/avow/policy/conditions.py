"""Conditions: the typed matchers of a rule, made ready when the policy is loaded.

A condition answers `True`, `False`, or `None` where it cannot tell: then, and where a path names
several values, it is read the careful way, which is to match for what tightens (a rule that
denies, asks or hides) and not to match for what loosens (a rule that allows, an `unless` of the
others).
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import translate
from typing import Any, Final

from avow.intent import HINT_NAMES
from avow.policy.situation import Situation, ToolFacts

Test = Callable[[Situation], bool | None]
FactsTest = Callable[[ToolFacts], bool]

_GLOB_SIGNS: Final = re.compile(r"[*?\[]")


@dataclass(frozen=True, slots=True)
class Condition:
    """One thing that a rule asks of a call. `wanted` and `actual` say it in words."""

    key: str
    wanted: str
    test: Test = field(repr=False, compare=False)
    actual: Callable[[Situation], str] = field(repr=False, compare=False)

    def why_not(self, situation: Situation) -> str:
        """Why the condition does not hold."""
        return f"{self.key} is {self.actual(situation)}, not {self.wanted}"


def many(value: object) -> tuple[Any, ...]:
    """One value or an array of them, as a tuple."""
    return tuple(value) if isinstance(value, list) else (value,)  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType] - whatever TOML holds


def make_glob(patterns: Sequence[str]) -> Callable[[str], bool]:
    """Whether a text fits one of `patterns`; case counts.

    >>> make_glob(["delete_*", "drop"])("delete_customer")
    True
    """
    exact = frozenset(one for one in patterns if not is_glob(one))
    globs = [translate(one) for one in patterns if one not in exact]
    if not globs:
        return exact.__contains__
    fits = re.compile("|".join(globs)).match
    return lambda text: text in exact or fits(text) is not None


def is_glob(text: str) -> bool:
    """Whether `text` has a sign in it that stands for something else."""
    return _GLOB_SIGNS.search(text) is not None


def facts_tests(table: Mapping[str, Any]) -> list[tuple[str, str, FactsTest]]:
    """The conditions of `table` on a tool: each key, what is wanted, and its test."""
    tests = [_FACTS[key](key, value) for key, value in table.items() if key in _FACTS]
    for name, sources in table.get("source", {}).items():
        tests.append(_source(name, sources))
    return tests


def _level(key: str, value: object) -> tuple[str, str, FactsTest]:
    levels = frozenset(many(value))
    return key, in_words(many(value)), lambda facts: facts.intent.level in levels


def _hint(key: Any, value: object) -> tuple[str, str, FactsTest]:
    is_wanted = bool(value)
    words = str(is_wanted).lower()
    return key, words, lambda facts: getattr(facts.intent, key).value is is_wanted


def _source(name: Any, value: object) -> tuple[str, str, FactsTest]:
    sources = frozenset(many(value))
    words = in_words(many(value))
    return f"source.{name}", words, lambda facts: facts.intent[name].source in sources


def _name(key: str, value: object) -> tuple[str, str, FactsTest]:
    fits = make_glob(many(value))
    return key, in_words(many(value)), lambda facts: fits(getattr(facts, key))


def _category(key: str, value: object) -> tuple[str, str, FactsTest]:
    words = frozenset(many(value))
    return key, in_words(many(value)), lambda facts: facts.category in words


def _tag(key: str, value: object) -> tuple[str, str, FactsTest]:
    words = frozenset(many(value))
    return key, in_words(many(value)), lambda facts: not words.isdisjoint(facts.tags)


_FACTS: Final[Mapping[str, Callable[[str, object], tuple[str, str, FactsTest]]]] = {
    "server": _name,
    "tool": _name,
    "level": _level,
    **dict.fromkeys(HINT_NAMES, _hint),
    "category": _category,
    "tag": _tag,
}


def facts_conditions(table: Mapping[str, Any]) -> list[Condition]:
    """The same as conditions on a call."""
    return [
        Condition(key, wanted, _on_facts(test), _actual_of(key))
        for key, wanted, test in facts_tests(table)
    ]


def _on_facts(test: FactsTest) -> Test:
    return lambda situation: test(situation.facts)


def _actual_of(key: str) -> Callable[[Situation], str]:
    def actual(situation: Situation) -> str:
        facts = situation.facts
        if key == "level":
            return str(facts.intent.level)
        if key == "tag":
            return in_words(sorted(facts.tags))
        if key.startswith("source."):
            return str(getattr(facts.intent, key.removeprefix("source.")).source)
        if key in HINT_NAMES:
            return str(getattr(facts.intent, key).value).lower()
        return str(getattr(facts, key) or "none")

    return actual


def principal_conditions(
    table: Mapping[str, Any], roles: Mapping[str, frozenset[str]]
) -> list[Condition]:
    """Conditions on who calls; `roles` are the scopes that each role brings."""
    callers = ("subject", "client")
    found = [_caller(key, many(table[key])) for key in callers if key in table]
    if "role" in table:
        found.append(_role(many(table["role"])))
    if "scope" in table:
        found.append(_scope(many(table["scope"]), roles))
    return found


def _caller(key: str, words: tuple[str, ...]) -> Condition:
    fits = make_glob(words)

    def actual(situation: Situation) -> str:
        return str(getattr(situation.principal, key))

    return Condition(key, in_words(words), lambda one: fits(getattr(one.principal, key)), actual)


def _role(words: tuple[str, ...]) -> Condition:
    wanted = frozenset(words)
    return Condition(
        "role",
        in_words(words),
        lambda one: not wanted.isdisjoint(one.principal.roles),
        lambda one: in_words(sorted(one.principal.roles)),
    )


def _scope(words: tuple[str, ...], roles: Mapping[str, frozenset[str]]) -> Condition:
    """Whoever needs no scopes, on a machine without authentication, holds them all."""
    wanted = frozenset(words)

    def test(situation: Situation) -> bool:
        caller = situation.principal
        if caller.scopes is None or not wanted.isdisjoint(caller.scopes):
            return True
        return any(not wanted.isdisjoint(roles.get(one, frozenset())) for one in caller.roles)

    def actual(situation: Situation) -> str:
        return in_words(sorted(situation.principal.scopes or ()))

    return Condition("scope", in_words(words), test, actual)


def in_words(words: Iterable[object]) -> str:
    """`a`, `a or b`, or `none`."""
    return " or ".join(str(one) for one in words) or "none"
