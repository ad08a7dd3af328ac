"""The receipts that a command line names, and the policy that says whose of them count."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from sayso.catalog import Tool, read_tools
from sayso.cli.options import NOTHING, Given
from sayso.cli.policy import read_policy
from sayso.cli.surface import Surface
from sayso.connect import CommandTarget, Target, describe_package
from sayso.errors import SaysoError, UsageError
from sayso.intent import HintName, Package, Verdict
from sayso.policy import Policy, seen_under
from sayso.receipts import ReceiptCollection, load_receipts, package_of

Verdicts = Mapping[str, Mapping[HintName, Verdict]]


@dataclass(frozen=True, slots=True)
class Vouched:
    """Receipts, and the policy under which tools are seen."""

    policy: Policy
    shelf: ReceiptCollection

    def see(self, surface: Surface | SaysoError, target: Target) -> Surface | SaysoError:
        """Return the tools of a target as they count, with the receipts about what it runs."""
        if isinstance(surface, SaysoError):
            return surface
        tools = self.shelf.give(surface.tools, package_run_by(target))
        return replace(surface, tools=[seen_under(self.policy, tool) for tool in tools])

    def verdicts(self, target: Target, entries: Sequence[object]) -> Verdicts:
        """Return what receipts say of tools, by name; only what they refute for a saved list."""
        tools, _ = read_tools(target.name, entries)
        package = package_run_by(target)
        given = self.shelf.give(tools, package)
        return {tool.name: self._of(tool, package) for tool in reversed(given)}

    def _of(self, tool: Tool, package: Package | None) -> Mapping[HintName, Verdict]:
        if package is None:
            return self.shelf.refuted(tool, self.policy)
        return self.policy.verdicts(tool.receipts)


def read_vouched(given: Given) -> Vouched | None:
    """Read --receipts and --policy. Raises `UsageError` if the policy trusts no key."""
    if given == NOTHING:
        return None
    rules = read_policy(given.policy)
    if given.receipts is None:
        return Vouched(rules, ReceiptCollection())
    if not rules.receipt_keys:
        what = "no receipt counts without a key that a policy trusts"
        fix = "Put the key under [trust.receipt_keys] of a policy, and name that with --policy."
        raise UsageError(what, where="--receipts", fix=fix)
    shelf = load_receipts(Path(given.receipts))
    for told in shelf.problems:
        logging.getLogger("sayso").warning("%s", told)
    return Vouched(rules, shelf)


def package_run_by(target: Target) -> Package | None:
    """The package that a target runs, as far as that can be told."""
    if isinstance(target, CommandTarget):
        return package_of(describe_package(target))
    return None
