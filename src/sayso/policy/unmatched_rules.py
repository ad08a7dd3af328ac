"""Parts of a policy that are about no tool: a rule with a misspelled name never counts."""

from collections.abc import Collection, Iterable, Sequence
from types import SimpleNamespace
from typing import Final

from sayso.catalog import Tool
from sayso.policy.conditions import FactsTest
from sayso.policy.document import ANY, DryRun, FirstUse, Operator, Policy, ResultLimit, Rule
from sayso.policy.situation import ToolFacts
from sayso.schema import is_switch

_NAMING: Final = frozenset({"server", "tool", "category", "tag"})
"""Conditions on words that somebody wrote, and may have misspelled."""


def unmatched(
    policy: Policy,
    tools: Iterable[ToolFacts],
    *,
    servers: Collection[str] = (),
    unknown: Collection[str] = (),
) -> list[str]:
    """Return a sentence for each part of `policy` that is about none of these tools.

    `servers` are all servers, and `unknown` those whose tools are not known yet: what may be about
    one of these is left out. Rules on levels and hints alone are left out too, since they are
    about tools to come.

    >>> from sayso.policy import load_policy
    >>> rule = 'rules = [{ name = "r", effect = "deny", when = { tool = "delte_*" } }]'
    >>> unmatched(load_policy(rule), [])
    ['the rule “r” (policy.toml, line 1) matches no tool']
    """
    known = tuple(tools)
    names = {ANY, *servers, *unknown, *(facts.server for facts in known)}
    found = [
        f"the rule “{rule.name}” ({policy.where}, line {rule.line}) matches no tool"
        for rule in policy.rules
        if not _is_about(rule, known, unknown)
    ]
    found += [
        f"“{table}.{entry.server}” ({policy.where}) names “{entry.tool}”, which is no tool"
        for table, entries in (
            ("operator", policy.operator),
            ("first_use", policy.first_use),
            ("max_result_characters", policy.max_result_characters),
            ("dry_run", policy.dry_run),
        )
        for entry in entries
        if not _names_any(entry, known, names, unknown)
    ]
    found += [
        f"“{table}” ({policy.where}) names “{server}”, which is no server"
        for table, entries in (("trust", policy.trust), ("off.servers", policy.off_servers))
        for server in sorted(entries)
        if server not in names
    ]
    return found


def without_dry_run(policy: Policy, tools: Iterable[Tool]) -> list[str]:
    """Return a sentence for each `dry_run` entry whose tools lack the boolean parameter it names.

    An entry for many tools is fine if one of them has the parameter.
    """
    known = tuple(tools)
    sentences: list[str] = []
    for entry in policy.dry_run:
        fitting = [
            tool for tool in known if entry.server in (ANY, tool.server) and entry.fits(tool.name)
        ]
        if fitting and not any(is_switch(one.input_schema, entry.parameter) for one in fitting):
            sentences.append(
                f"“dry_run.{entry.server}” ({policy.where}) names the parameter "
                f"“{entry.parameter}”, but “{entry.tool}” has no boolean parameter of this name"
            )
    return sentences


def _is_about(rule: Rule, known: tuple[ToolFacts, ...], unknown: Collection[str]) -> bool:
    """Return whether a rule may match: each tool that it names, this call's or an earlier one's."""
    own = [test for one in rule.when if not one.is_of_call for test in one.about]
    earlier = [one.about for one in rule.when if one.is_of_call]
    return all(
        not any(test.key in _NAMING for test in tests)
        or any(all(test.test(facts) for test in tests) for facts in known)
        or any(_may_fit(tests, server) for server in unknown)
        for tests in (own, *earlier)
    )


def _may_fit(tests: Sequence[FactsTest], server: str) -> bool:
    """Return whether the tests could fit some tool of a server whose tools are not known."""
    return all(test.test(SimpleNamespace(server=server)) for test in tests if test.key == "server")


def _names_any(
    entry: Operator | FirstUse | ResultLimit | DryRun,
    known: tuple[ToolFacts, ...],
    servers: Collection[str],
    unknown: Collection[str],
) -> bool:
    if entry.tool == ANY:
        return entry.server in servers
    if entry.server in unknown or (entry.server == ANY and unknown):
        return True
    return any(entry.server in (ANY, facts.server) and entry.fits(facts.tool) for facts in known)
