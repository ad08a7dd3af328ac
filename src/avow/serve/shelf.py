"""The tools of one server: those that it declares here, and those that it has in other ways."""

import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from avow.catalog import Tool, make_tool
from avow.errors import UsageError
from avow.intent import HINT_NAMES, Intent, declare
from avow.serve.advice import advise
from avow.serve.definition import ToolDefinition
from avow.serve.functions import as_plan, by_name

DECLARED: Final = "__avow_intent__"
"""The attribute of a function under which `declare` leaves its intent."""

_log: Final = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Entry:
    """A tool as its framework lists it, what was declared of it, and what both make."""

    raw: Mapping[str, Any] | None
    intent: Intent | None
    wire: Mapping[str, Any]
    tool: Tool


@dataclass(slots=True)
class Shelf:
    """Definitions by name, and the tools as the guard knows them.

    `infer` takes an inference for hints that nobody declared. `intents` are those that `declare`
    left at functions that a framework holds.
    """

    server: str
    infer: bool = False
    intents: Mapping[str, Intent | None] = field(default_factory=dict[str, Intent | None])
    definitions: dict[str, ToolDefinition] = field(default_factory=dict[str, ToolDefinition])
    tools: dict[str, Tool] = field(default_factory=dict[str, Tool])
    _entries: Mapping[str, _Entry] = field(default_factory=dict[str, _Entry])
    _told: set[str] = field(default_factory=set[str])

    def add(self, definition: ToolDefinition) -> None:
        """Take in a definition. Raises `UsageError` for a name that is taken."""
        if definition.name in self.definitions:
            what = f"two tools are called {definition.name!r}"
            raise UsageError(what, where=self.server, fix="Give each a name of its own.")
        self.definitions[definition.name] = definition

    def take(
        self,
        entries: Iterable[Mapping[str, Any]],
        intents: Mapping[str, Intent | None],
    ) -> list[dict[str, Any]]:
        """The wire entries of all tools; `entries` are those that the framework lists."""
        self.intents = intents
        found = {raw["name"]: self._entry(raw["name"], raw) for raw in entries}
        for name, one in self.definitions.items():
            if one.execute is not None:
                found[name] = self._entry(name, None)
        self._entries = found
        self.tools = {name: one.tool for name, one in found.items()}
        return [dict(one.wire) for one in found.values()]

    def _entry(self, name: str, raw: Mapping[str, Any] | None) -> _Entry:
        """What is made of an entry; a framework's that is as it was is not made anew."""
        intent, known = self._intent(name), self._entries.get(name)
        if known is not None and known.intent is intent and known.raw == raw:
            return known
        wire = self.definitions[name].to_mcp_schema() if raw is None else self._declared(raw)
        return _Entry(raw, intent, wire, self._tool(wire))

    def _declared(self, raw: Mapping[str, Any]) -> dict[str, Any]:
        definition = self.definitions.get(raw["name"])
        if definition is not None:
            return definition.to_mcp_schema() | {key: raw[key] for key in ("icons",) if key in raw}
        intent = self._intent(raw["name"])
        return dict(raw) if intent is None else declare(raw, intent)

    def _intent(self, name: str) -> Intent | None:
        definition = self.definitions.get(name)
        return definition.intent if definition else self.intents.get(name)

    def _tool(self, wire: Mapping[str, Any]) -> Tool:
        tool = make_tool(self.server, wire)
        intent = self._intent(tool.name)
        if intent is not None:
            functions: dict[str, Any] = {
                "plan": as_plan(intent.plan),
                "narrow": by_name(intent.narrow),
                "when": by_name(intent.when),
            }
            return replace(
                tool, intent=intent.but(title=tool.intent.title, **functions), inferred={}
            )
        if all(tool.intent.hints[name] is None for name in HINT_NAMES):
            self._tell(tool)
        return tool if self.infer else replace(tool, inferred={})

    def _tell(self, tool: Tool) -> None:
        """Once for each tool about which nothing is said."""
        if tool.name not in self._told:
            self._told.add(tool.name)
            _log.warning("%s", advise(tool, is_taken=self.infer))
