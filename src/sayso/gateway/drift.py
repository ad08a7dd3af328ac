"""Drift of servers' tools: a change that would permit more waits until a person accepts it.

The store holds the known definitions, so restarts and replicas share them. The row of a tool that
keeps changing is written at most once a minute. A change that permits less is written at once.
"""

import json
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, NamedTuple, Self

from sayso.audit import AuditLog
from sayso.catalog import Change, Tool, changes, definition_of, hold, loosens, mark_of, restore_tool
from sayso.errors import StoreError
from sayso.intent import Evidence, ResolvedIntent
from sayso.policy import Policy
from sayso.slices import in_slices
from sayso.store import DefinitionRow, Definitions, Known, storable

_log: Final = logging.getLogger(__name__)

_QUIET_SECONDS: Final = 60.0
_MAX_TOOLS: Final = 20_000
"""The maximum stored tools of a server, so that invented names cannot fill the store."""

_HELD_CHANGE: Final = (
    "%s: a change of its tool “%s” would permit more; the stricter definition counts until a "
    "person accepts the change (sayso drift)"
)


class _Judged(NamedTuple):
    """The verdict on a definition. If a change is held, `before` is the tool before that change."""

    known: Known
    digest: str
    before: Tool | None


@dataclass(slots=True)
class DriftDetector:
    """A detector of changes in the tools of the server `server`, whose store key is `place`."""

    definitions: Definitions
    place: str
    server: str
    policy: Callable[[], Policy]
    clock: Callable[[], float] = time.time
    timer: Callable[[], float] = time.monotonic
    _judged: dict[str, _Judged] = field(default_factory=dict[str, _Judged])
    _written: dict[str, float] = field(default_factory=dict[str, float])

    async def judge(self, tools: Sequence[Tool]) -> tuple[list[Tool], list[str]]:
        """Return the tools, with held changes undone, and a problem if tools were left out.

        New tools are stored. Raises `StoreError` if the known tools cannot be read. A failed write
        is only logged.
        """
        named: dict[str, Tool] = {}
        for tool in tools:
            named.setdefault(storable(tool.name), tool)
        known = await self.definitions.known(self.place)
        new = [name for name in named if name not in known]
        room = max(0, _MAX_TOOLS - len(known))
        if new[:room]:
            await self._write(
                await in_slices(new[:room], lambda name: self._first(name, named[name]))
            )
            # Another process may have stored another definition first.
            known = await self.definitions.known(self.place)
        await self._compare({name: tool for name, tool in named.items() if name in known}, known)
        refused = set(new[room:])
        judged = [self._in_effect(tool) for tool in tools if storable(tool.name) not in refused]
        if not refused:
            return judged, []
        what = f"{self.server}: {len(refused)} tools are left out: the server uses too many names"
        return judged, [what]

    async def _compare(self, named: Mapping[str, Tool], known: Mapping[str, Known]) -> None:
        digests = dict(await in_slices(named.items(), lambda entry: (entry[0], mark_of(entry[1]))))
        due = [name for name, digest in digests.items() if self._is_due(name, known[name], digest)]
        if not due:
            return
        rows = {row.tool: row for row in await self.definitions.all(self.place)}
        changed = await in_slices(
            due, lambda name: self._judge(rows[name], named[name], digests[name])
        )
        await self._write([row for row in changed if row is not None])

    def _is_due(self, name: str, known: Known, digest: str) -> bool:
        if digest == known.mark and known.held is None:
            self._judged.pop(name, None)
            return False
        judged = self._judged.get(name)
        if judged is None or (judged.known, judged.digest) != (known, digest):
            return True
        return judged.before is not None and known.held != digest  # the held change is not written

    def _judge(self, row: DefinitionRow, tool: Tool, digest: str) -> DefinitionRow | None:
        short = Known(row.mark, row.accepted, row.held_mark)
        self._judged[row.tool] = _Judged(short, digest, None)
        next_ = replace(row, held=None, held_mark=None, held_since=None, revision=row.revision + 1)
        if digest in (row.mark, row.accepted):
            return None if row.held is None else self._soon(next_)
        before = restore_tool(self.server, json.loads(row.definition))

        def under(evidence: Evidence) -> ResolvedIntent:
            return self.policy().resolve(self.server, tool.name, evidence)

        if loosens(before, tool, under):
            self._judged[row.tool] = _Judged(short, digest, before)
            if row.held_mark == digest or not self._may_write(row.tool):
                return None
            return replace(next_, held=_text(tool), held_mark=digest, held_since=self.clock())
        _log.debug("%s: its tool “%s” has changed", row.server, row.tool)
        moved = replace(next_, definition=_text(tool), mark=digest, since=self.clock())
        if loosens(tool, before, under):
            return moved
        return self._soon(moved)

    def _soon(self, row: DefinitionRow) -> DefinitionRow | None:
        """Return the row if it may be written now, else `None`; the change is then judged later."""
        if self._may_write(row.tool):
            return row
        del self._judged[row.tool]
        return None

    def _in_effect(self, tool: Tool) -> Tool:
        judged = self._judged.get(storable(tool.name))
        if judged is None or judged.before is None:
            return tool
        return hold(tool, judged.before)

    def _may_write(self, name: str) -> bool:
        now = self.timer()
        if now - self._written.get(name, -_QUIET_SECONDS) < _QUIET_SECONDS:
            return False
        self._written[name] = now
        return True

    def _first(self, name: str, tool: Tool) -> DefinitionRow:
        return DefinitionRow(
            self.place, name, self.server, _text(tool), mark_of(tool), self.clock()
        )

    async def _write(self, rows: Sequence[DefinitionRow]) -> None:
        if not rows:
            return
        try:
            await self.definitions.put(rows)
        except StoreError as error:
            _log.warning("%s: its tools cannot be stored: %s", self.server, error)
            return
        for row in rows:
            if row.held is not None:
                _log.warning(_HELD_CHANGE, row.server, row.tool)


@dataclass(frozen=True, slots=True)
class Held:
    """A change that waits for a person: the known tool, the tool now, and the differences."""

    row: DefinitionRow
    known: Tool
    now: Tool
    changes: tuple[Change, ...]

    @classmethod
    def of(cls, row: DefinitionRow) -> Self:
        known = restore_tool(row.server, json.loads(row.definition))
        now = restore_tool(row.server, json.loads(row.held or "{}"))
        return cls(row, known, now, tuple(changes(known, now)))

    def to_dict(self) -> dict[str, Any]:
        return {
            "server": self.row.server,
            "tool": self.now.name,
            "place": self.row.place,
            "since": self.row.held_since,
            "level": {"was": str(self.known.level), "would_be": str(self.now.level)},
            "changes": [
                {"what": change.what, "is_looser": change.is_looser} for change in self.changes
            ],
            "was": json.loads(self.row.definition),
            "is": json.loads(self.row.held or "{}"),
        }


async def held_changes(definitions: Definitions) -> list[Held]:
    """Return all changes that wait for a person, by server and tool."""
    return [Held.of(row) for row in await definitions.all(is_held=True)]


async def accept(log: AuditLog, definitions: Definitions, held: Held, *, by: str) -> bool:
    """Accept a change and record that; return `False` if the tool has changed again.

    Running gateways notice within seconds.
    """
    whats = [change.what for change in held.changes]
    return await log.accept(definitions, held.row, changes=whats, by=by)


def _text(tool: Tool) -> str:
    return json.dumps(definition_of(tool))
