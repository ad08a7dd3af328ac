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
        found: dict[str, dict[str, Any]] = {}
        for raw in entries:
            wire = self._declared(raw)
            found[wire["name"]] = wire
        for name, one in self.definitions.items():
            if one.execute is not None:
                found[name] = one.to_mcp_schema()
        self.tools = {name: self._tool(wire) for name, wire in found.items()}
        return list(found.values())

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
