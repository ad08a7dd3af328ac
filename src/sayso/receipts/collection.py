"""A collection of receipts, matched to a server's current tools."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sayso.catalog import Tool
from sayso.connect import BYTECODE
from sayso.intent import Finding, HintName, Package, ToolReceipt, Verdict
from sayso.policy import Policy
from sayso.receipts.statement import Receipt

_FIX = "Run sayso verify again and sign a new receipt."

DROPPED = "receipt-dropped"
"""The code of the finding for a receipt that no longer applies."""


@dataclass(frozen=True, slots=True)
class ReceiptCollection:
    """Receipts whose signatures are not yet checked, and `problems` of unreadable files."""

    receipts: tuple[Receipt, ...] = ()
    problems: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.receipts)

    def give(self, tools: Sequence[Tool], package: Package | None) -> list[Tool]:
        """Return the tools of a server that runs `package`, each with its receipts.

        A receipt applies if fingerprint and package digest match. If no receipt applies, one for
        another version of the tool or package becomes a finding. Without a package none applies.
        """
        if package is None or not self.receipts:
            return [*tools]
        return [self._with_receipts(tool, package) for tool in tools]

    def _with_receipts(self, tool: Tool, package: Package) -> Tool:
        valid: list[ToolReceipt] = []
        dropped: list[Finding] = []
        for receipt, about in self._naming(tool.name, package):
            if about.package != package.digest:
                dropped.append(Finding(DROPPED, why_void(receipt, about.where, package)))
            elif about.fingerprint != tool.fingerprint:
                what = f"receipt {about.where} no longer applies: “{tool.name}” has changed. {_FIX}"
                dropped.append(Finding(DROPPED, what))
            else:
                valid.append(about)
        if valid:  # then outdated receipts do not matter
            return replace(tool, receipts=tuple(valid))
        if dropped:
            return replace(tool, receipts=(), findings=(*tool.findings, *dropped))
        return tool

    def _naming(self, tool: str, package: Package) -> Iterator[tuple[Receipt, ToolReceipt]]:
        """Yield the receipts of any version of a package that name this tool."""
        for receipt in self.receipts:
            own = receipt.package
            if own.digest == package.digest or (own.kind, own.name) == (package.kind, package.name):
                for about in receipt.tools:
                    if about.name == tool:
                        yield receipt, about

    def refuted(self, tool: Tool, policy: Policy) -> dict[HintName, Verdict]:
        """Return the hints that a receipt refutes for this fingerprint, for any package.

        This is safe although the package is unknown, because a refutation only permits less.
        """
        matching = [
            about
            for receipt in self.receipts
            for about in receipt.tools
            if (about.name, about.fingerprint) == (tool.name, tool.fingerprint)
        ]
        verdicts = policy.verdicts(matching)
        return {name: verdict for name, verdict in verdicts.items() if verdict == "refuted"}


def why_void(receipt: Receipt, where: str, package: Package) -> str:
    """Return the reason why a receipt does not apply to a package, such as a changed file."""
    before = receipt.package.files
    now = package.files
    changed = sorted(
        name for name in before.keys() | now.keys() if before.get(name) != now.get(name)
    )
    if not before or not changed:
        return f"receipt {where} is for {receipt.package}, but {package} runs. {_FIX}"
    first = changed[0]
    how = "changed"
    if first not in before:
        how = "added"
    elif first not in now:
        how = "removed"
    more = ""
    if len(changed) > 1:
        more = f" (and {len(changed) - 1} more)"
    return f"receipt {where} no longer applies: {first} was {how}{more}. {_FIX}"


def package_of(described: Mapping[str, Any] | None) -> Package | None:
    """Return the package from the output of `sayso.connect.describe_package`."""
    if described is None:
        return None
    return Package(**{name: value for name, value in described.items() if name != BYTECODE})
