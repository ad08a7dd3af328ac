"""The tools of a bound server: the declared ones, and those that only the framework knows."""

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
"""The function attribute in which the decorator `sayso.declare` stores the intent."""

_AS_TOOL: Final = "tools.tool"
_REACH: Final = ", with .but(open_world=True) if it reaches the outside world"

_log: Final = logging.getLogger(__name__)

Function = Callable[..., Any]


@dataclass(frozen=True, slots=True)
class _Entry:
    """A tool as the framework lists it, its declaration, and the catalog tool made from both."""

    raw: Mapping[str, Any]
    declared: ToolDefinition | Intent | None
    tool: Tool


@dataclass(slots=True)
class ToolRegistry:
    """The tools of a server by name, updated whenever the framework lists its tools.

    With `infer`, a tool without declared hints gets inferred ones. `scopes` are all scopes that
    exist, or `None` if any is allowed. `definitions` are made by `tools.tool` and `tools.add`;
    `declared_functions` has their functions. `functions` and `tools` come from the latest list.
    """

    server: str
    infer: bool = False
    scopes: frozenset[str] | None = None
    definitions: dict[str, ToolDefinition] = field(default_factory=dict[str, ToolDefinition])
    declared_functions: dict[str, Function] = field(default_factory=dict[str, Function])
    functions: Mapping[str, Function | None] = field(default_factory=dict[str, Function | None])
    tools: dict[str, Tool] = field(default_factory=dict[str, Tool])
    _entries: Mapping[str, _Entry] = field(default_factory=dict[str, _Entry])
    _warned: set[str] = field(default_factory=set[str])

    def check_name(self, name: str) -> None:
        """Raise `UsageError` for a name that is invalid or taken."""
        check_name(name)
        if name in self.definitions:
            what = f"two tools are called {name!r}"
            raise UsageError(what, where=self.server, fix="Give each tool its own name.")

    def add(self, definition: ToolDefinition, function: Function | None = None) -> None:
        """Add a definition and the function that the framework calls. Raises `UsageError`."""
        self.check_name(definition.name)
        self.definitions[definition.name] = definition
        if function is not None:
            self.declared_functions[definition.name] = function

    def take(
        self, entries: Iterable[Mapping[str, Any]], found: Mapping[str, Function | None]
    ) -> None:
        """Replace the tools by the framework's current list; `found` has the function of each."""
        made: dict[str, _Entry] = {}
        for raw in entries:
            name = raw["name"]
            if name in made:
                # A call may reach either tool, so no declared hints count.
                self._warn(f"{name} twice", f"the server lists two tools that are called {name!r}")
                made[name] = self._entry(name, {**raw, "annotations": {}}, None)
                continue
            definition = self.definition(name, found.get(name))
            if definition is not None:
                made[name] = self._entry(name, raw, definition)
            elif name not in self.definitions or self.definitions[name].execute is None:
                function = found.get(name)
                # Advise `sayso.declare` only if there is a function to decorate.
                how = _AS_TOOL if function is None else "sayso.declare"
                made[name] = self._entry(name, raw, getattr(function, DECLARED, None), how)
            else:
                self._warn(name, f"two tools are called {name!r}: the declared one counts")
        for name, declared in self.definitions.items():
            if declared.execute is not None:
                made[name] = self._entry(name, {}, declared)
        self._entries = made
        self.functions = found
        self.tools = {name: entry.tool for name, entry in made.items()}

    def check(self) -> None:
        """Raise `UsageError` if a tool's declaration by `sayso.declare` is invalid.

        Call it after a list: only then are the tools' arguments known.
        """
        for name, entry in self._entries.items():
            if isinstance(entry.declared, Intent):
                check_scopes(entry.declared, self.scopes, where=f"tool {name}")
                schema: Mapping[str, Any] = entry.tool.input_schema or {}
                check_intent(name, entry.declared, frozenset(schema.get("properties", ())))
                check_dry_run(name, entry.declared, schema)

    def _entry(
        self,
        name: str,
        raw: Mapping[str, Any],
        declared: ToolDefinition | Intent | None,
        how: str = _AS_TOOL,
    ) -> _Entry:
        known = self._entries.get(name)
        if known is not None and known.declared is declared and known.raw == raw:
            return known
        if isinstance(declared, ToolDefinition):
            icons = {key: raw[key] for key in ("icons",) if key in raw}
            tool = self._tool(declared.to_mcp_schema() | icons, declared.intent, how)
        else:
            tool = self._tool(raw, declared, how)
        return _Entry(raw, declared, tool)

    def definition(self, name: str, function: Function | None) -> ToolDefinition | None:
        """Return the definition of a listed tool, or `None` if it was made for another function."""
        definition = self.definitions.get(name)
        if definition is None or definition.execute is not None:
            return None
        if function is self.declared_functions.get(name):
            return definition
        self._warn(
            name, f"the tool {name!r} was replaced after its declaration, which is now ignored"
        )
        return None

    def raw(self, name: str) -> Mapping[str, Any]:
        """Return a tool as its framework listed it, or an empty object."""
        known = self._entries.get(name)
        return {} if known is None else known.raw

    def entry(self, tool: Tool, seen: Tool) -> dict[str, Any]:
        """Return a tool's list entry. If a hint is undeclared, all hints are the resolved ones."""
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
            shown = public(intent, closed)
            if shown.title is None and read_tool(closed).intent.title is None:
                shown = shown.but(title=derive_title(closed["name"]))
            tool = make_tool(self.server, declare(closed, shown), infer=False)
        functions: dict[str, Any] = {
            "plan": as_plan(intent.plan),
            "narrow": by_name(intent.narrow),
            "when": by_name(intent.when),
        }
        return replace(tool, intent=intent.but(title=tool.intent.title, **functions))

    def _silent(self, tool: Tool, how: str) -> Tool:
        """Return an undeclared tool. If it has no hints, log advice to declare it with `how`."""
        if all(tool.intent.hints[name] is None for name in HINT_NAMES):
            self._warn(tool.name, advise(tool, is_taken=self.infer, how=how))
        if self.infer:
            return tool
        return replace(tool, inferred={})

    def _warn(self, name: str, what: str) -> None:
        if name not in self._warned:
            self._warned.add(name)
            _log.warning("%s", what)


def _closed(raw: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the tool with a schema that refuses unknown arguments, if it does not mention them."""
    schema = raw.get("inputSchema")
    if not isinstance(schema, Mapping):
        return raw
    return {**raw, "inputSchema": {"additionalProperties": False, **schema}}


def suggest(tool: Tool) -> str | None:
    """Return the expression for the intent that a tool's texts suggest; `None` if unsure."""
    intent = supposed(Hints(**{name: guess.value for name, guess in tool.inferred.items()}))
    return None if intent is None else as_code(intent)


def advise(tool: Tool, *, is_taken: bool, how: str) -> str:
    """Return advice for the author; `how` is the decorator that takes an intent."""
    suggested = suggest(tool)
    what = f"the tool {tool.name!r} declares nothing, so it counts as destructive"
    if is_taken:
        what = f"the tool {tool.name!r} declares nothing; hints inferred with certainty apply"
    if suggested is None:
        return f"{what}; declare what it does: @{how}(…), with a preset such as sayso.READ_ONLY"
    advice = f"{what}; its name and texts suggest @{how}({suggested})"
    if "open_world" in tool.inferred:
        return advice
    return advice + _REACH
