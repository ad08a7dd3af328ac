"""The receipts that are at hand, and which of them are about a server's tools as they are now."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from avow.catalog import Tool
from avow.intent import Finding, HintName, Package, ToolReceipt, Verdict
from avow.policy import Policy
from avow.verify.receipt.statement import Receipt

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
        return [self._with_receipts(one, package) for one in tools]

    def _with_receipts(self, tool: Tool, package: Package) -> Tool:
        found: list[ToolReceipt] = []
        dropped: list[Finding] = []
        for receipt, one in self._naming(tool.name, package):
            if one.package != package.digest:
                what = f"the receipt {one.where} is for {receipt.package}, and {package} runs"
                dropped.append(Finding(DROPPED, f"{what}: it does not count"))
            elif one.fingerprint != tool.fingerprint:
                what = f"the tool has changed since the receipt {one.where} was made"
                dropped.append(Finding(DROPPED, f"{what}: it does not count"))
            else:
                found.append(one)
        told = () if found else dropped  # an old one beside one that holds is no news
        if not found and not told:
            return tool
        return replace(tool, receipts=tuple(found), findings=(*tool.findings, *told))

    def _naming(self, tool: str, package: Package) -> Iterator[tuple[Receipt, ToolReceipt]]:
        """What the receipts of a package, of whatever version, say of a tool of this name."""
        for receipt in self.receipts:
            own = receipt.package
            if own.digest == package.digest or (own.kind, own.name) == (package.kind, package.name):
                for one in receipt.tools:
                    if one.name == tool:
                        yield receipt, one

    def refuted(self, tool: Tool, policy: Policy) -> dict[HintName, Verdict]:
        """The hints that some receipt refutes for a tool of this fingerprint, whatever runs.

        For whoever has only a list of tools: that permits less, so nobody need say what runs.
        """
        found = [
            one
            for receipt in self.receipts
            for one in receipt.tools
            if (one.name, one.fingerprint) == (tool.name, tool.fingerprint)
        ]
        verdicts = policy.verdicts(found)
        return {name: one for name, one in verdicts.items() if one == "refuted"}


def package_of(described: Mapping[str, str] | None) -> Package | None:
    """The package that `avow.connect.package.describe_package` has described."""
    return None if described is None else Package(**described)
