"""Receipts at the gateway: checked against a server's package, then attached to its tools."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import anyio

from sayso.catalog import Tool
from sayso.connect import NO_FOREIGN_BYTECODE, CommandTarget, UrlTarget, describe_package
from sayso.errors import UnreachableError
from sayso.intent import Package
from sayso.receipts import DROPPED, ReceiptCollection, package_of

_log: Final = logging.getLogger(__name__)

_MAX_LOGGED: Final = 1_000
"""The maximum logged problems, so that a server that keeps changing cannot fill log or memory."""


@dataclass(slots=True)
class PackageReceipts:
    """The receipts for the server at `target`."""

    target: CommandTarget | UrlTarget
    receipts: ReceiptCollection = field(default_factory=ReceiptCollection)
    _logged: set[str] = field(default_factory=set[str])

    async def find_package(self) -> Package | None:
        """Return the package that is about to start; `None` if receipts cannot apply to it.

        Call this just before each start. A later change on disk affects only the next process.
        """
        if not self.receipts or not isinstance(self.target, CommandTarget):
            return None
        described = await anyio.to_thread.run_sync(describe_package, self.target)
        if described is None:
            self._warn(
                "no receipt counts for this server, because code outside its package may run "
                "(docs/guides/receipts.md, What the digest covers)"
            )
        return package_of(described)

    def give(self, tools: Sequence[Tool], package: Package | None) -> list[Tool]:
        """Return the tools with the receipts that are valid for `package`; log the others."""
        with_receipts = self.receipts.give(tools, package)
        for tool in with_receipts:
            for finding in tool.findings:
                if finding.code == DROPPED:
                    self._warn(finding.message)
        return with_receipts

    def _warn(self, what: str) -> None:
        if what not in self._logged and len(self._logged) < _MAX_LOGGED:
            self._logged.add(what)
            _log.warning("%s: %s", self.target.name, what)


def without_bytecode(
    target: CommandTarget | UrlTarget, package: Package | None
) -> CommandTarget | UrlTarget:
    """Return the target to start. If receipts may apply to its package, bytecode is disabled.

    The package's digest covers its sources, and bytecode files may differ from the sources.
    """
    if package is None or not isinstance(target, CommandTarget):
        return target
    return replace(target, env={**target.env, **NO_FOREIGN_BYTECODE})


def check_package(tool: Tool, package: Package | None) -> None:
    """Raise `UnreachableError` if the tool's receipts are for a package other than this one.

    A server may have been updated and restarted between the decision and the call.
    """
    if tool.receipts and (package is None or tool.receipts[0].package != package.digest):
        what = "the package has changed since the decision on this call, and nothing was sent"
        raise UnreachableError(what, where=tool.server, fix="Make the call again.")
