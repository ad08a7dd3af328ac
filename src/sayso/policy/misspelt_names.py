"""Names of tools in a policy that are those behind the gateway: there they fit no tool."""

import re
from collections.abc import Iterable
from typing import Final

from sayso.catalog import SEPARATOR
from sayso.policy.document import Policy

_KEYS: Final = ("tool", "after")


def misnamed(policy: Policy, servers: Iterable[str]) -> list[str]:
    """What to tell of places that name a tool `SERVER__TOOL`, for any of these servers.

    It is no mistake for sure, since a server may call a tool so; but whoever means the name that
    clients see has a rule that never counts.

    >>> from sayso.policy import load_policy
    >>> rule = 'rules = [{ name = "r", effect = "deny", when = { tool = "git__push" } }]'
    >>> misnamed(load_policy(rule), ["git"])[0].split(":")[0]
    'the rule “r” (policy.toml, line 1) names a tool “git__push”'
    """
    one_of = "|".join(re.escape(one) for one in servers)
    called = re.compile(rf"(?<![\w-])({one_of}){SEPARATOR}([\w*?\[\]-]+)")
    places: list[tuple[str, str]] = [
        (f"the rule “{rule.name}” ({policy.where}, line {rule.line})", one.wanted)
        for rule in policy.rules
        for one in (*rule.when, *rule.unless)
        if one.key in _KEYS
    ]
    places += [(f"“operator.{one.server}” ({policy.where})", one.tool) for one in policy.operator]
    places += [(f"“first_use.{one.server}” ({policy.where})", one.tool) for one in policy.first_use]
    places += [
        (f"“max_result_characters.{one.server}” ({policy.where})", one.tool)
        for one in policy.max_result_characters
    ]
    places += [(f"“dry_run.{one.server}” ({policy.where})", one.tool) for one in policy.dry_run]
    return [
        f"{place} names a tool “{found[0]}”: here a tool goes by its server's own name for it, "
        f'as server = "{found[1]}", tool = "{found[2]}"'
        for place, text in places
        if one_of
        for found in called.finditer(text)
    ]
