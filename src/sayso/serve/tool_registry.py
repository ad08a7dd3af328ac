"""The tools of one server: those that it declares here, and those that it has in other ways."""

import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from sayso.catalog import Tool, derive_title, make_tool
from sayso.errors import UsageError
from sayso.intent import (
    HINT_NAMES,
    WIRE_NAMES,
    Hints,
    Intent,
    as_code,
    declare,
    read_tool,
    supposed,
)
from sayso.serve.definition import ToolDefinition, check_dry_run, check_intent, check_name, public
from sayso.serve.functions import as_plan, by_name
from sayso.serve.validation import check_scopes

DECLARED: Final = "__sayso_intent__"
"""The attribute of a function under which `declare` leaves its intent."""

_AS_TOOL: Final = "tools.tool"
_REACH: Final = ", with .but(open_world=True) if it reaches the outside world"

_log: Final = logging.getLogger(__name__)

Function = Callable[..., Any]


@dataclass(frozen=True, slots=True)
class _Entry:
    """A tool as its framework lists it, what was declared of it, and what both make."""

    raw: Mapping[str, Any]
    said: ToolDefinition | Intent | None
    tool: Tool


@dataclass(slots=True)
class ToolRegistry:
    """Definitions by name, and the tools as the guard knows them.

    `infer` takes an inference for hints that nobody declared. `scopes` are those that there are,
    where that was said. `held` are the functions that a framework holds for definitions, and
    `found` those that it had when it was last asked.
    """

    server: str
    infer: bool = False
    scopes: frozenset[str] | None = None
    definitions: dict[str, ToolDefinition] = field(default_factory=dict[str, ToolDefinition])
    held: dict[str, Function] = field(default_factory=dict[str, Function])
    found: Mapping[str, Function | None] = field(default_factory=dict[str, Function | None])
    tools: dict[str, Tool] = field(default_factory=dict[str, Tool])
    _entries: Mapping[str, _Entry] = field(default_factory=dict[str, _Entry])
    _told: set[str] = field(default_factory=set[str])

    def check_name(self, name: str) -> None:
        """Raise `UsageError` for a name that is none, or is taken."""
        check_name(name)
        if name in self.definitions:
            what = f"two tools are called {name!r}"
            raise UsageError(what, where=self.server, fix="Give each a name of its own.")

    def add(self, definition: ToolDefinition, function: Function | None = None) -> None:
        """Take in a definition, and what the framework holds for it. Raises `UsageError`."""
        self.check_name(definition.name)
        self.definitions[definition.name] = definition
        if function is not None:
            self.held[definition.name] = function

    def take(
        self, entries: Iterable[Mapping[str, Any]], found: Mapping[str, Function | None]
    ) -> None:
        """Make the tools from what the framework lists now, and the functions it has."""
        made: dict[str, _Entry] = {}
        for raw in entries:
            name = raw["name"]
            if name in made:
                # Which of them a call reaches is not known, so neither's hints count.
                self._tell(f"{name} twice", f"the server lists two tools that are called {name!r}")
                made[name] = self._entry(name, {**raw, "annotations": {}}, None)
                continue
            definition = self.definition(name, found.get(name))
            if definition is not None:
                made[name] = self._entry(name, raw, definition)
            elif name not in self.definitions or self.definitions[name].execute is None:
                function = found.get(name)
                # A function can be declared where it stands; what a handler lists, only as a tool.
                how = _AS_TOOL if function is None else "sayso.declare"
                made[name] = self._entry(name, raw, getattr(function, DECLARED, None), how)
            else:
                self._tell(name, f"two tools are called {name!r}: the one that is declared counts")
        for name, declared in self.definitions.items():
            if declared.execute is not None:
                made[name] = self._entry(name, {}, declared)
        self._entries = made
        self.found = found
        self.tools = {name: entry.tool for name, entry in made.items()}

    def check(self) -> None:
        """Raise `UsageError` for what `declare` said of a tool that cannot mean it.

        Until a framework lists the tool, nobody knows its arguments.
        """
        for name, entry in self._entries.items():
            if isinstance(entry.said, Intent):
                check_scopes(entry.said, self.scopes, where=f"tool {name}")
                schema: Mapping[str, Any] = entry.tool.input_schema or {}
                check_intent(name, entry.said, frozenset(schema.get("properties", ())))
                check_dry_run(name, entry.said, schema)

    def _entry(
        self,
        name: str,
        raw: Mapping[str, Any],
        said: ToolDefinition | Intent | None,
        how: str = _AS_TOOL,
    ) -> _Entry:
        """What is made of an entry; one that is as it was is not made anew."""
        known = self._entries.get(name)
        if known is not None and known.said is said and known.raw == raw:
            return known
        if isinstance(said, ToolDefinition):
            icons = {key: raw[key] for key in ("icons",) if key in raw}
            return _Entry(raw, said, self._tool(said.to_mcp_schema() | icons, said.intent, how))
        return _Entry(raw, said, self._tool(raw, said, how))

    def definition(self, name: str, function: Function | None) -> ToolDefinition | None:
        """The definition of a tool that a framework holds, as long as it is this function's."""
        definition = self.definitions.get(name)
        if definition is None or definition.execute is not None:
            return None
        if function is self.held.get(name):
            return definition
        self._tell(name, f"the tool {name!r} is not the one that was declared; that counts no more")
        return None

    def raw(self, name: str) -> Mapping[str, Any]:
        """The tool of this name as its framework listed it; empty for one that it did not list."""
        known = self._entries.get(name)
        if known is None:
            return {}
        return known.raw

    def entry(self, tool: Tool, seen: Tool) -> dict[str, Any]:
        """The entry of a list: all hints explicit, those that nobody declared as they count."""
        intent = tool.intent
        if any(intent.hints[name] is None for name in HINT_NAMES):
            values = {name: seen.resolved[name].value for name in HINT_NAMES}
            intent = replace(intent, hints=Hints(**values))
        return declare(tool.raw, public(intent, tool.raw).but(title=tool.title))

    def _tool(self, raw: Mapping[str, Any], intent: Intent | None, how: str) -> Tool:
        if intent is None:
            return self._silent(make_tool(self.server, raw), how)
        if all(intent.hints[name] is None for name in HINT_NAMES):
            annotations: Mapping[str, Any] = raw.get("annotations") or {}
            left = {k: v for k, v in annotations.items() if k not in WIRE_NAMES.values()}
            tool = self._silent(make_tool(self.server, {**raw, "annotations": left}), how)
        else:
            closed = _closed(raw)
            told = public(intent, closed)
            if told.title is None and read_tool(closed).intent.title is None:
                told = told.but(title=derive_title(closed["name"]))
            wire = declare(closed, told)
            tool = make_tool(self.server, wire, infer=False)
        functions: dict[str, Any] = {
            "plan": as_plan(intent.plan),
            "narrow": by_name(intent.narrow),
            "when": by_name(intent.when),
        }
        return replace(tool, intent=intent.but(title=tool.intent.title, **functions))

    def _silent(self, tool: Tool, how: str) -> Tool:
        """A tool about which its author says nothing here; `how` is what would say it."""
        if all(tool.intent.hints[name] is None for name in HINT_NAMES):
            self._tell(tool.name, advise(tool, is_taken=self.infer, how=how))
        if self.infer:
            return tool
        return replace(tool, inferred={})

    def _tell(self, name: str, what: str) -> None:
        if name not in self._told:
            self._told.add(name)
            _log.warning("%s", what)


def _closed(raw: Mapping[str, Any]) -> Mapping[str, Any]:
    """What is declared takes no argument that it does not know, unless it says so."""
    schema = raw.get("inputSchema")
    if not isinstance(schema, Mapping):
        return raw
    return {**raw, "inputSchema": {"additionalProperties": False, **schema}}


def suggest(tool: Tool) -> str | None:
    """The intent that its name and texts suggest, as code; `None` where they say too little."""
    found = supposed(Hints(**{name: guess.value for name, guess in tool.inferred.items()}))
    if found is None:
        return None
    return as_code(found)


def advise(tool: Tool, *, is_taken: bool, how: str) -> str:
    """A sentence for the author; `how` is the decorator that takes an intent."""
    found = suggest(tool)
    what = f"the tool {tool.name!r} declares nothing, so it counts as one that destroys"
    if is_taken:
        what = f"the tool {tool.name!r} declares nothing; what its name and texts surely say holds"
    if found is None:
        return f"{what}; declare what it does: @{how}(…), with a preset such as sayso.READ_ONLY"
    advice = f"{what}; its name and texts suggest @{how}({found})"
    if "open_world" in tool.inferred:
        return advice
    return advice + _REACH
