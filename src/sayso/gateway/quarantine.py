"""Quarantine of tools that broke their contract: no calls until a person lifts it.

The store holds the quarantine, so that it applies after a restart and in every process.
"""

import json
import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple

from sayso.audit import AuditLog
from sayso.catalog import Tool
from sayso.connect import CommandTarget, Target, UrlTarget, place_of
from sayso.contract import Hold, check_ready
from sayso.errors import StoreError
from sayso.gateway.tool_cache import Judge
from sayso.intent import Finding
from sayso.sandbox import Programs
from sayso.store import QuarantineRow, Quarantines, storable

_log: Final = logging.getLogger(__name__)

CODE: Final = "quarantined"
_MAX_EVIDENCE: Final = 20
REASON: Final = (
    "the tool counts as read-only, and tried to change something; it is in quarantine until a "
    "person lifts that (sayso quarantine)"
)


class _Breach(NamedTuple):
    """A quarantine that is not in the store yet: the row, the call, and its caller."""

    row: QuarantineRow
    call: str
    subject: str


@dataclass(slots=True)
class Quarantine:
    """The quarantine of the server `server`, by its key `place`; `inner` judges its tools first."""

    audit: AuditLog
    quarantines: Quarantines
    place: str
    server: str
    inner: Judge
    clock: Callable[[], float] = time.time
    _unwritten: dict[str, _Breach] = field(default_factory=dict[str, _Breach])
    _held: frozenset[str] = frozenset()

    async def judge(self, tools: Sequence[Tool]) -> tuple[list[Tool], list[str]]:
        """Return the tools, with quarantined ones marked. Raises `StoreError`."""
        judged, problems = await self.inner(tools)
        await self._write()
        rows = await self.quarantines.all(self.place)
        self._held = frozenset(row.tool for row in rows) | self._unwritten.keys()
        return [self._confined(tool) for tool in judged], problems

    def holds(self, tool: Tool) -> bool:
        return storable(tool.name) in self._held

    async def add(self, tool: Tool, evidence: Sequence[str], *, call: str, subject: str) -> None:
        """Put a tool into quarantine and record that; if the store fails, only in this process."""
        name = storable(tool.name)
        texts = [storable(text) for text in evidence[:_MAX_EVIDENCE]]
        row = QuarantineRow(self.place, name, self.server, self.clock(), json.dumps(texts))
        self._unwritten[name] = _Breach(row, call, subject)
        self._held |= {name}
        what = "%s: “%s” counts as read-only, and tried: %s"
        _log.error(what, self.server, tool.name, ", ".join(texts))
        await self._write()

    async def _write(self) -> None:
        for name, breach in list(self._unwritten.items()):
            try:
                await self.audit.quarantine(
                    self.quarantines, breach.row, call=breach.call, subject=breach.subject
                )
            except StoreError as error:
                _log.error("%s: a quarantine cannot be stored: %s", self.server, error)
            else:
                self._unwritten.pop(name, None)

    def _confined(self, tool: Tool) -> Tool:
        if not self.holds(tool):
            return tool
        finding = Finding(CODE, REASON)
        return replace(tool, quarantine=REASON, findings=(*tool.findings, finding))


async def lift(log: AuditLog, quarantines: Quarantines, row: QuarantineRow, *, by: str) -> bool:
    """Lift a quarantine and record that; return `False` if it was already lifted or changed.

    Running gateways apply the change within seconds.
    """
    return await log.lift(quarantines, row, by=by)


def evidence_of(row: QuarantineRow) -> list[str]:
    """Return descriptions of the tool's attempts to change something."""
    return list(map(str, json.loads(row.evidence)))


def to_dict(row: QuarantineRow) -> dict[str, object]:
    """Return a quarantine as data."""
    return {
        "server": row.server,
        "tool": row.tool,
        "place": row.place,
        "since": row.since,
        "evidence": evidence_of(row),
    }


@dataclass(slots=True)
class Contracts:
    """The contracts of servers. `programs` is `None` if no server has a contract."""

    audit: AuditLog
    quarantines: Quarantines
    inner: Callable[[CommandTarget | UrlTarget], Judge]
    programs: Programs | None
    _holds: dict[str, Hold]

    def judge(self, target: CommandTarget | UrlTarget) -> Judge:
        """Return the judge of a server's tools: `inner`, and then the quarantine.

        Servers without a contract get this judge too, because only a person may lift a quarantine,
        not a change of the configuration.
        """
        inner = self.inner(target)
        quarantine = Quarantine(self.audit, self.quarantines, place_of(target), target.name, inner)
        if self.programs is not None and _has_contract(target):
            self._holds[target.name] = Hold(self.programs, quarantine)
        return quarantine.judge

    def hold(self, target: CommandTarget | UrlTarget) -> Hold | None:
        """Return the hold that enforces a server's contract, or `None`. Call `judge` first."""
        return self._holds.get(target.name)


async def open_contracts(
    targets: Sequence[Target],
    audit: AuditLog,
    quarantines: Quarantines,
    inner: Callable[[CommandTarget | UrlTarget], Judge],
) -> Contracts:
    """Return the contracts of `targets`. Raises `UncontainedError` if they cannot be enforced."""
    programs: Programs | None = None
    if names := [target.name for target in targets if _has_contract(target)]:
        programs = await check_ready(names)
    return Contracts(audit, quarantines, inner, programs, {})


def _has_contract(target: Target) -> bool:
    return isinstance(target, CommandTarget) and target.contract is not None
