"""Conditions: the typed matchers of a rule, compiled when the policy is loaded.

A condition returns `True`, `False`, or `None` if the answer is unknown. An unknown answer always
has the stricter effect. It is a match in a rule that denies, asks or hides. It is no match in a
rule that allows, nor in the `unless` of another rule.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from fnmatch import translate
from operator import attrgetter
from typing import Any, Final, NamedTuple, cast

from sayso.fields import boolean, choice, convert, function, number, optional, text, texts
from sayso.intent import HINT_NAMES, Level
from sayso.policy.situation import Situation

Test = Callable[[Situation], bool | None]
AnyTest = Callable[[Any], bool]

_GLOB_SIGNS: Final = re.compile(r"[*?\[]")


class FactsTest(NamedTuple):
    """A test of a tool: the condition's key, the wanted value in words, and the function."""

    key: str
    wanted: str
    test: AnyTest


class Reads(StrEnum):
    """The inputs on which a condition's answer depends, so that the answer can be cached."""

    TOOL = "tool"
    CALLER = "caller"
    TOOL_AND_CALLER = "tool and caller"
    CALL = "call"
    """Any part of the call, so the answer is never cached."""


@dataclass(frozen=True, slots=True)
class Condition:
    """One requirement of a rule on a call. `wanted` and `actual` describe it in words.

    `is_of_call` means that the answer depends on more than caller and tool. `window` is the needed
    history, in seconds. `reads` are the inputs of the answer. `names`, if not `None`, are the only
    values of `key` that can match. `about` are the condition's tests of a tool (of this call or an
    earlier one); each takes `ToolFacts`.
    """

    key: str
    wanted: str
    test: Test = field(repr=False, compare=False)
    actual: Callable[[Situation], str] = field(repr=False, compare=False)
    is_of_call: bool = False
    window: float = 0.0
    reads: Reads = Reads.CALL
    names: frozenset[str] | None = None
    about: tuple[FactsTest, ...] = field(default=(), repr=False, compare=False)

    def __post_init__(self) -> None:
        convert(
            self,
            key=text,
            wanted=text,
            test=function,
            actual=function,
            is_of_call=boolean,
            window=number(0),
            reads=choice(Reads),
            names=optional(texts),
        )

    def why_not(self, situation: Situation) -> str:
        return f"{self.key} is {self.actual(situation)}, not {self.wanted}"


def many(value: object) -> tuple[Any, ...]:
    """Return one value, or an array of values, as a tuple."""
    if isinstance(value, list):
        return tuple(cast("list[Any]", value))
    return (value,)


def make_glob(patterns: Sequence[str]) -> Callable[[str], bool]:
    """Return a function that checks whether a text matches one of `patterns`, with case.

    >>> make_glob(["delete_*", "drop"])("delete_customer")
    True
    """
    exact = frozenset(pattern for pattern in patterns if not is_glob(pattern))
    globs = [translate(pattern) for pattern in patterns if pattern not in exact]
    if not globs:
        return exact.__contains__
    fits = re.compile("|".join(globs)).match
    return lambda text: text in exact or fits(text) is not None


def is_glob(text: str) -> bool:
    """Return whether `text` contains a wildcard."""
    return _GLOB_SIGNS.search(text) is not None


def facts_tests(table: Mapping[str, Any], prefix: str = "") -> list[FactsTest]:
    """Return the tests of `table` on a tool.

    Each test takes `ToolFacts`. With a `prefix`, it takes an object that has the facts at this
    attribute path, which is faster than getting the facts first.
    """
    tests: list[FactsTest] = []
    for key, value in table.items():
        if key in _FACTS:
            wanted = str(value).lower() if isinstance(value, bool) else in_words(many(value))
            attributes, compared = _FACTS[key]
            test = _test(prefix + attributes, compared(many(value)))
            tests.append(FactsTest(key, wanted, test))
    for name, sources in table.get("source", {}).items():
        test = _test(f"{prefix}intent.{name}.source", _is_any(many(sources)))
        tests.append(FactsTest(f"source.{name}", in_words(many(sources)), test))
    return tests


def _is_any(words: tuple[Any, ...]) -> AnyTest:
    return words.__contains__


def _has_any(words: tuple[str, ...]) -> AnyTest:
    wanted = frozenset(words)
    return lambda tags: not wanted.isdisjoint(tags)


def _is_level(words: tuple[str, ...]) -> AnyTest:
    """Return a test of a level. An invalid level counts as destructive."""
    reads, writes, destroys = (level in words for level in Level)

    def fits(level: object) -> bool:
        if level is Level.READ:
            return reads
        return writes if level is Level.WRITE else destroys

    return fits


_FACTS: Final[Mapping[str, tuple[str, Callable[[tuple[Any, ...]], AnyTest]]]] = {
    "server": ("server", make_glob),
    "tool": ("tool", make_glob),
    "level": ("intent.level", _is_level),
    **{name: (f"intent.{name}.value", _is_any) for name in HINT_NAMES},
    "category": ("category", _is_any),
    "tag": ("tags", _has_any),
}
"""For each key: the attribute that the condition reads, and the function that compares it."""


def _test(attributes: str, fits: AnyTest) -> AnyTest:
    get = attrgetter(attributes)
    return lambda about: fits(get(about))


def facts_conditions(table: Mapping[str, Any]) -> list[Condition]:
    """Return the conditions of `table` on a call's tool."""
    pairs = zip(facts_tests(table, "facts."), facts_tests(table), strict=True)
    return [
        Condition(
            of_call.key,
            of_call.wanted,
            of_call.test,
            _actual_of(of_call.key),
            reads=Reads.TOOL,
            names=_names(table, of_call.key),
            about=(bare,),
        )
        for of_call, bare in pairs
    ]


def _names(table: Mapping[str, Any], key: str) -> frozenset[str] | None:
    """Return the servers or tools that a condition names, or `None` if a name is a glob."""
    if key not in ("server", "tool"):
        return None
    words = frozenset[str](many(table[key]))
    return None if any(map(is_glob, words)) else words


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
    """Return the conditions on the caller; `roles` maps each role to its scopes."""
    callers = ("subject", "tenant", "client")
    conditions = [_caller(key, many(table[key])) for key in callers if key in table]
    if "role" in table:
        conditions.append(_role(many(table["role"])))
    if "scope" in table:
        conditions.append(_scope(many(table["scope"]), roles))
    return conditions


def _caller(key: str, words: tuple[str, ...]) -> Condition:
    fits = make_glob(words)

    def actual(situation: Situation) -> str:
        return str(getattr(situation.principal, key) or "none")

    def test(situation: Situation) -> bool:
        name = getattr(situation.principal, key)
        return name is not None and fits(name)

    return Condition(key, in_words(words), test, actual, reads=Reads.CALLER)


def _role(words: tuple[str, ...]) -> Condition:
    wanted = frozenset(words)
    return Condition(
        "role",
        in_words(words),
        lambda situation: not wanted.isdisjoint(situation.principal.roles),
        lambda situation: in_words(sorted(situation.principal.roles)),
        reads=Reads.CALLER,
    )


def _scope(words: tuple[str, ...], roles: Mapping[str, frozenset[str]]) -> Condition:
    """Match a scope. A caller whose scopes are `None` (no authentication) has every scope."""
    wanted = frozenset(words)

    def test(situation: Situation) -> bool:
        caller = situation.principal
        if caller.scopes is None or not wanted.isdisjoint(caller.scopes):
            return True
        return any(not wanted.isdisjoint(roles.get(role, ())) for role in caller.roles)

    def actual(situation: Situation) -> str:
        return in_words(sorted(situation.principal.scopes or ()))

    return Condition("scope", in_words(words), test, actual, reads=Reads.CALLER)


def in_words(words: Iterable[object], *, if_none: str = "none") -> str:
    """Join words as `a or b`; return `if_none` if there are no words."""
    return " or ".join(map(str, words)) or if_none
