"""The receipts that are at hand, and which of them are about a server's tools as they are now."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sayso.catalog import Tool
from sayso.connect import BYTECODE
from sayso.intent import Finding, HintName, Package, ToolReceipt, Verdict
from sayso.policy import Policy
from sayso.receipts.statement import Receipt

_FIX = "Run sayso verify again and sign a new one."

DROPPED = "receipt-dropped"
"""The code of the finding that a tool has whose receipt does not hold any more."""


@dataclass(frozen=True, slots=True)
class Shelf:
    """Receipts, by whomever; `problems` are what could not be read as one."""

    receipts: tuple[Receipt, ...] = ()
    problems: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.receipts)

    def give(self, tools: Sequence[Tool], package: Package | None) -> list[Tool]:
        """The tools of a server that runs `package`, each with the receipts about it.

        A receipt is about a tool where fingerprint and digest are the same. One that was about it
        before either changed is told of as a finding. Without a package there is nothing that a
        receipt could be held to.
        """
        if package is None or not self.receipts:
            return [*tools]
        return [self._with_receipts(tool, package) for tool in tools]

    def _with_receipts(self, tool: Tool, package: Package) -> Tool:
        found: list[ToolReceipt] = []
        dropped: list[Finding] = []
        for receipt, about in self._naming(tool.name, package):
            if about.package != package.digest:
                dropped.append(Finding(DROPPED, why_void(receipt, about.where, package)))
            elif about.fingerprint != tool.fingerprint:
                what = (
                    f"the receipt {about.where} does not count for the tool “{tool.name}”, "
                    f"which has changed since. {_FIX}"
                )
                dropped.append(Finding(DROPPED, what))
            else:
                found.append(about)
        if found:  # an old one beside one that holds is no news
            return replace(tool, receipts=tuple(found))
        if dropped:
            return replace(tool, receipts=(), findings=(*tool.findings, *dropped))
        return tool

    def _naming(self, tool: str, package: Package) -> Iterator[tuple[Receipt, ToolReceipt]]:
        """What the receipts of a package, of whatever version, say of a tool of this name."""
        for receipt in self.receipts:
            own = receipt.package
            if own.digest == package.digest or (own.kind, own.name) == (package.kind, package.name):
                for about in receipt.tools:
                    if about.name == tool:
                        yield receipt, about

    def refuted(self, tool: Tool, policy: Policy) -> dict[HintName, Verdict]:
        """The hints that some receipt refutes for a tool of this fingerprint, whatever runs.

        For whoever has only a list of tools: that permits less, so nobody need say what runs.
        """
        found = [
            about
            for receipt in self.receipts
            for about in receipt.tools
            if (about.name, about.fingerprint) == (tool.name, tool.fingerprint)
        ]
        verdicts = policy.verdicts(found)
        return {name: verdict for name, verdict in verdicts.items() if verdict == "refuted"}


def why_void(receipt: Receipt, where: str, package: Package) -> str:
    """Say why a receipt does not count for a package: which file changed, and what to do."""
    before = receipt.package.files
    now = package.files
    changed = sorted(
        name for name in before.keys() | now.keys() if before.get(name) != now.get(name)
    )
    if not before or not changed:
        return f"the receipt {where} is for {receipt.package}, but {package} runs. {_FIX}"
    first = changed[0]
    how = "changed"
    if first not in before:
        how = "added"
    elif first not in now:
        how = "removed"
    more = ""
    if len(changed) > 1:
        more = f" (and {len(changed) - 1} more)"
    return f"the receipt {where} does not count: {first} was {how} since{more}. {_FIX}"


def package_of(described: Mapping[str, Any] | None) -> Package | None:
    """The package that `sayso.connect.package.describe_package` has described."""
    if described is None:
        return None
    return Package(**{name: value for name, value in described.items() if name != BYTECODE})
