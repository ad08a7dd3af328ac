"""Parts of a policy that match no tool, such as rules with a misspelled name."""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from types import SimpleNamespace
from typing import Final

from sayso.catalog import SEPARATOR, Tool
from sayso.policy.conditions import FactsTest
from sayso.policy.document import ANY, Entry, Policy
from sayso.policy.rule import Rule
from sayso.policy.situation import ToolFacts
from sayso.schema import is_switch

_NAMING: Final = frozenset({"server", "tool", "category", "tag"})
"""Conditions on names, which may be misspelled."""


def unmatched(
    policy: Policy,
    tools: Iterable[ToolFacts],
    *,
    servers: Collection[str] = (),
    unknown: Collection[str] = (),
) -> list[str]:
    """Return a sentence for each part of `policy` that matches none of these tools.

    `servers` are all servers; `unknown` are the servers whose tools are not known yet. The result
    omits parts that may match those tools, and rules whose only conditions are levels and hints.

    >>> from sayso.policy import load_policy
    >>> rule = 'rules = [{ name = "r", effect = "deny", when = { tool = "delte_*" } }]'
    >>> unmatched(load_policy(rule), [])
    ['the rule “r” (policy.toml, line 1) matches no tool']
    """
    known = tuple(tools)
    names = {ANY, *servers, *unknown, *(facts.server for facts in known)}
    sentences = [
        f"the rule “{rule.name}” ({policy.where}, line {rule.line}) matches no tool"
        for rule in policy.rules
        if not _is_about(rule, known, unknown)
    ]
    sentences += [
        f"“{table}.{entry.server}” ({policy.where}) names “{entry.tool}”, which is not a known tool"
        for table, entry in _entries(policy)
        if not _names_any(entry, known, names, unknown)
    ]
    sentences += [
        f"“{table}” ({policy.where}) names “{server}”, which is not a known server"
        for table, entries in (("trust", policy.trust), ("off.servers", policy.off_servers))
        for server in sorted(entries)
        if server not in names
    ]
    return sentences


def misnamed(policy: Policy, servers: Iterable[str]) -> list[str]:
    """Return a warning for each part that names a tool `SERVER__TOOL`, as clients see it.

    Such a part matches only if the server's own name for the tool has this form.

    >>> from sayso.policy import load_policy
    >>> rule = 'rules = [{ name = "r", effect = "deny", when = { tool = "git__push" } }]'
    >>> misnamed(load_policy(rule), ["git"])[0].split(":")[0]
    'the rule “r” (policy.toml, line 1) names a tool “git__push”'
    """
    one_of = "|".join(re.escape(server) for server in servers)
    called = re.compile(rf"(?<![\w-])({one_of}){SEPARATOR}([\w*?\[\]-]+)")
    places: list[tuple[str, str]] = [
        (f"the rule “{rule.name}” ({policy.where}, line {rule.line})", condition.wanted)
        for rule in policy.rules
        for condition in (*rule.when, *rule.unless)
        if condition.key in ("tool", "after")
    ]
    places += [
        (f"“{table}.{entry.server}” ({policy.where})", entry.tool)
        for table, entry in _entries(policy)
    ]
    return [
        f"{place} names a tool “{match[0]}”: a policy uses the server's own tool names; "
        f'write server = "{match[1]}", tool = "{match[2]}"'
        for place, text in places
        if one_of
        for match in called.finditer(text)
    ]


def without_dry_run(policy: Policy, tools: Iterable[Tool]) -> list[str]:
    """Return a sentence for each `dry_run` entry whose parameter no matching tool has.

    An entry for many tools is valid if one of them has the boolean parameter.
    """
    known = tuple(tools)
    sentences: list[str] = []
    for entry in policy.dry_run:
        fitting = [
            tool for tool in known if entry.server in (ANY, tool.server) and entry.fits(tool.name)
        ]
        if fitting and not any(is_switch(tool.input_schema, entry.parameter) for tool in fitting):
            sentences.append(
                f"“dry_run.{entry.server}” ({policy.where}) names the parameter "
                f"“{entry.parameter}”, but “{entry.tool}” has no boolean parameter of this name"
            )
    return sentences


def _is_about(rule: Rule, known: tuple[ToolFacts, ...], unknown: Collection[str]) -> bool:
    """Return whether each tool that a rule names, for this call or an earlier one, may exist."""
    own = [test for condition in rule.when if not condition.is_of_call for test in condition.about]
    earlier = [condition.about for condition in rule.when if condition.is_of_call]
    return all(
        not any(test.key in _NAMING for test in tests)
        or any(all(test.test(facts) for test in tests) for facts in known)
        or any(_may_fit(tests, server) for server in unknown)
        for tests in (own, *earlier)
    )


def _may_fit(tests: Sequence[FactsTest], server: str) -> bool:
    return all(test.test(SimpleNamespace(server=server)) for test in tests if test.key == "server")


def _names_any(
    entry: Entry, known: tuple[ToolFacts, ...], servers: Collection[str], unknown: Collection[str]
) -> bool:
    if entry.tool == ANY:
        return entry.server in servers
    if entry.server in unknown or (entry.server == ANY and unknown):
        return True
    return any(entry.server in (ANY, facts.server) and entry.fits(facts.tool) for facts in known)


def _entries(policy: Policy) -> Iterator[tuple[str, Entry]]:
    for table in ("operator", "first_use", "max_result_characters", "dry_run"):
        for entry in getattr(policy, table):
            yield table, entry
