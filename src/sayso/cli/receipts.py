"""Receipts on the command line, and the policy that trusts their keys."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from sayso.catalog import Tool, read_tools
from sayso.cli.options import NO_RECEIPTS, ReceiptOptions
from sayso.cli.policy import read_policy
from sayso.cli.tool_reading import ToolListing
from sayso.connect import CommandTarget, Target, describe_package
from sayso.errors import SaysoError, UsageError
from sayso.intent import HintName, Package, Verdict
from sayso.policy import Policy, seen_under
from sayso.receipts import ReceiptCollection, load_receipts, package_of

Verdicts = Mapping[str, Mapping[HintName, Verdict]]


@dataclass(frozen=True, slots=True)
class TrustedReceipts:
    """Receipts, and the policy that resolves hints with them."""

    policy: Policy
    shelf: ReceiptCollection

    def see(self, listing: ToolListing | SaysoError, target: Target) -> ToolListing | SaysoError:
        """Return a target's tools with hints resolved under the policy and the receipts."""
        if isinstance(listing, SaysoError):
            return listing
        tools = self.shelf.give(listing.tools, package_run_by(target))
        return replace(listing, tools=[seen_under(self.policy, tool) for tool in tools])

    def verdicts(self, target: Target, entries: Sequence[object]) -> Verdicts:
        """Return the receipts' verdicts by tool; only refutations if the package is unknown."""
        tools, _ = read_tools(target.name, entries)
        package = package_run_by(target)
        given = self.shelf.give(tools, package)
        return {tool.name: self._of(tool, package) for tool in reversed(given)}

    def _of(self, tool: Tool, package: Package | None) -> Mapping[HintName, Verdict]:
        if package is None:
            return self.shelf.refuted(tool, self.policy)
        return self.policy.verdicts(tool.receipts)


def read_trusted_receipts(given: ReceiptOptions) -> TrustedReceipts | None:
    """Read --receipts and --policy.

    Raises `UsageError` if receipts are given and the policy trusts no key.
    """
    if given == NO_RECEIPTS:
        return None
    rules = read_policy(given.policy)
    if given.receipts is None:
        return TrustedReceipts(rules, ReceiptCollection())
    if not rules.receipt_keys:
        what = "requires a policy that trusts a receipt key"
        fix = "Add the key to [trust.receipt_keys] of a policy, and use --policy with that file."
        raise UsageError(what, where="--receipts", fix=fix)
    shelf = load_receipts(Path(given.receipts))
    for problem in shelf.problems:
        logging.getLogger("sayso").warning("%s", problem)
    return TrustedReceipts(rules, shelf)


def package_run_by(target: Target) -> Package | None:
    """Return the package that a target runs, if it can be identified."""
    if isinstance(target, CommandTarget):
        return package_of(describe_package(target))
    return None
