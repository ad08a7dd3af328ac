"""Receipts at the gateway: held to the package that is started, given to its tools, or dropped."""

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

_MOST_TOLD: Final = 1_000
"""A server that keeps changing must not fill the log, nor memory."""


@dataclass(slots=True)
class PackageReceipts:
    """The receipts for the server at `target`."""

    target: CommandTarget | UrlTarget
    receipts: ReceiptCollection = field(default_factory=ReceiptCollection)
    _told: set[str] = field(default_factory=set[str])

    async def look(self) -> Package | None:
        """Return the package that is about to be started; `None` if receipts cannot apply to it.

        Called just before each start: a later change on disk counts for the next process.
        """
        if not self.receipts or not isinstance(self.target, CommandTarget):
            return None
        described = await anyio.to_thread.run_sync(describe_package, self.target)
        if described is None:
            self._tell(
                "no receipt counts for it, since other code than a package's may run "
                "(docs/guides/receipts.md, What the digest covers)"
            )
        return package_of(described)

    def give(self, tools: Sequence[Tool], package: Package | None) -> list[Tool]:
        """Return the tools of a process of that package with their receipts; log dropped ones."""
        found = self.receipts.give(tools, package)
        for tool in found:
            for finding in tool.findings:
                if finding.code == DROPPED:
                    self._tell(finding.message)
        return found

    def _tell(self, what: str) -> None:
        if what not in self._told and len(self._told) < _MOST_TOLD:
            self._told.add(what)
            _log.warning("%s: %s", self.target.name, what)


def without_bytecode(
    target: CommandTarget | UrlTarget, package: Package | None
) -> CommandTarget | UrlTarget:
    """Return the target as it is started if receipts may count for its package.

    Its digest is over sources, so only these are loaded: bytecode beside them may say otherwise.
    """
    if package is None or not isinstance(target, CommandTarget):
        return target
    return replace(target, env={**target.env, **NO_FOREIGN_BYTECODE})


def check_package(tool: Tool, package: Package | None) -> None:
    """Raise `UnreachableError` if the call was judged by receipts for another package than runs.

    A server that was restarted between the decision and the call may have been updated.
    """
    if tool.receipts and (package is None or tool.receipts[0].package != package.digest):
        what = "its package has changed since this call was judged, and nothing was sent"
        raise UnreachableError(what, where=tool.server, fix="Call again: it is judged anew.")
