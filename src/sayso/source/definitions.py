"""Definitions of tools in a file: decorators, registering calls, and tools as data."""

import ast
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from sayso.intent import WIRE_NAMES, HintName
from sayso.source.program import FunctionNode, Module, targets_of

Framework = Literal["official", "fastmcp", "sayso", "lowlevel"]

_SERVERS: Final = ("MCPServer", "FastMCP")
_BOUND: Final = frozenset({"sayso.bind", "sayso.serve.bind", "sayso.serve.Tools", "sayso.Tools"})
_FAST_TOOLS: Final = ("fastmcp.tools", "fastmcp.tools.tool", "fastmcp.tools.function_tool")
_EXECUTE: Final = 5
"""The position of `execute` among the arguments of `ToolDefinition`."""

_TYPES: Final = frozenset({"mcp.types.Tool", "mcp_types.Tool"})

CLASS: Final = "ToolAnnotations"
HOMES: Final = ("mcp.types", "mcp_types")
"""The modules that have the class `ToolAnnotations`: in the older SDK, and in the newer one."""

Hints = Mapping[HintName, bool]
Path = tuple[FunctionNode | ast.ClassDef, ...]


@dataclass(frozen=True, slots=True)
class Definition:
    """One tool that a file defines.

    `place` is the expression that declares the tool: a decorator, a call or a `Tool(…)`. `handler`
    is the tool's function, if the file has it; `path` are the functions and classes around `place`.
    `name` is `None` if the name is built at run time.
    """

    name: str | None
    line: int
    framework: Framework
    place: ast.expr = field(repr=False)
    handler: ast.AST | None = field(repr=False)
    path: Path = field(default=(), repr=False)
    is_declared: bool = False


@dataclass(frozen=True, slots=True)
class Edit:
    """One change: hints and titles for the call at `place`."""

    place: ast.expr
    hints: Hints
    framework: Framework
    title: str | None = None
    inner_title: str | None = None

    @property
    def annotations(self) -> Mapping[str, str]:
        """The annotations to write: Python literals by their names in MCP."""
        hints = {WIRE_NAMES[name]: str(value) for name, value in self.hints.items()}
        if self.inner_title is None:
            return hints
        return {"title": json.dumps(self.inner_title, ensure_ascii=False), **hints}


@dataclass(frozen=True, slots=True)
class Dispatch:
    """The function that runs all tools of a low-level server, with its module and its position."""

    module: Module = field(repr=False)
    handler: ast.AST = field(repr=False)
    path: Path = field(default=(), repr=False)


def find_definitions(module: Module) -> list[Definition]:
    """Return the tools that a file defines, in order."""
    finder = _Finder(module, dict(_bindings(module)))
    return sorted(finder.below(module.tree), key=lambda definition: definition.place.lineno)


def find_dispatch(module: Module) -> Dispatch | None:
    """Return the dispatcher of a low-level server: `on_call_tool=…` or `@server.call_tool()`."""
    for node, path in _walk(module.tree):
        if isinstance(node, ast.Call) and (given := keyword_of(node, "on_call_tool")):
            return Dispatch(module, given, path)
        if isinstance(node, FunctionNode):
            for decorator in node.decorator_list:
                called = _callee(decorator)
                if isinstance(called, ast.Attribute) and called.attr == "call_tool":
                    return Dispatch(module, node, path)
    return None


def _callee(decorator: ast.expr) -> ast.expr:
    return decorator.func if isinstance(decorator, ast.Call) else decorator


def _walk(tree: ast.AST) -> Iterator[tuple[ast.AST, Path]]:
    waiting: list[tuple[ast.AST, Path]] = [(tree, ())]
    while waiting:
        node, path = waiting.pop()
        yield node, path
        if isinstance(node, FunctionNode | ast.ClassDef):
            path = (*path, node)
        waiting += [(child, path) for child in ast.iter_child_nodes(node)]


def keyword_of(call: ast.Call, name: str) -> ast.expr | None:
    """Return the value of a keyword of a call, or `None`."""
    return next((keyword.value for keyword in call.keywords if keyword.arg == name), None)


def _bindings(module: Module) -> Iterator[tuple[str, str]]:
    """Yield names and attributes with their constructors: `mcp` is a `fastmcp.FastMCP`."""
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Assign | ast.AnnAssign):
            constructor = ""
            if isinstance(node.value, ast.Call):
                constructor = module.dotted(node.value.func)
            if isinstance(node, ast.AnnAssign):
                constructor = constructor or _annotated(module, node.annotation)
            for target in targets_of(node):
                yield _last(target), constructor
        elif isinstance(node, ast.arg) and node.annotation:
            yield node.arg, _annotated(module, node.annotation)
        elif isinstance(node, ast.withitem) and isinstance(node.context_expr, ast.Call):
            yield _last(node.optional_vars), module.dotted(node.context_expr.func)


def _annotated(module: Module, annotation: ast.expr) -> str:
    """Return the type of an annotation, which may be written as a text: `tools: "Tools"`."""
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        try:
            annotation = ast.parse(annotation.value, mode="eval").body
        except (SyntaxError, ValueError):
            return ""
    return module.dotted(annotation)


def _last(node: ast.AST | None) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    if isinstance(node, ast.Name):
        return node.id
    return ""


@dataclass(frozen=True, slots=True)
class _Finder:
    module: Module
    bindings: Mapping[str, str]

    def below(self, tree: ast.AST) -> Iterator[Definition]:
        for node, path in _walk(tree):
            if isinstance(node, FunctionNode):
                yield from self._decorated(node, path)
            elif isinstance(node, ast.Call):
                yield from self._called(node, path)

    def _decorated(self, node: FunctionNode, path: Path) -> Iterator[Definition]:
        is_declared = any(
            isinstance(decorator, ast.Call)
            and self.module.dotted(decorator.func).startswith("sayso.")
            for decorator in node.decorator_list
        )
        for decorator in node.decorator_list:
            if framework := self._framework(_callee(decorator)):
                name: str | None = node.name
                if isinstance(decorator, ast.Call):
                    name = self._named(decorator, name)
                yield Definition(name, node.lineno, framework, decorator, node, path, is_declared)

    def _called(self, call: ast.Call, path: Path) -> Iterator[Definition]:
        """Yield tools defined by calls: `X.tool(…)(f)`, `X.add_tool(f)`, `X.add(…)`, `Tool(…)`."""
        func = call.func
        dotted = self.module.dotted(call.func)
        if isinstance(func, ast.Call) and (framework := self._framework(func.func)):
            handler = next(iter(call.args), None)
            yield self._from_call(framework, func, handler, _last(handler), path, is_first=True)
        elif dotted in _TYPES:
            yield self._from_call("lowlevel", call, None, None, path, is_first=True)
        elif dotted in {f"{home}.Tool.from_function" for home in _FAST_TOOLS}:
            handler = next(iter(call.args), keyword_of(call, "fn"))
            yield self._from_call("fastmcp", call, handler, _last(handler), path)
        elif dotted.startswith("sayso.") and dotted.endswith(".ToolDefinition"):
            position = slice(_EXECUTE, _EXECUTE + 1)
            handler = keyword_of(call, "execute") or next(iter(call.args[position]), None)
            yield self._from_call("sayso", call, handler, None, path, is_first=True)
        elif isinstance(func, ast.Attribute) and func.attr in ("add_tool", "add"):
            yield from self._added(call, func, path)

    def _added(self, call: ast.Call, func: ast.Attribute, path: Path) -> Iterator[Definition]:
        framework = self._server(func.value)
        if func.attr == "add" and framework == "sayso":
            yield self._from_call("sayso", call, keyword_of(call, "execute"), None, path)
            return
        handler = next(iter(call.args), None)
        if func.attr == "add_tool" and framework and (name := _last(handler)):
            yield self._from_call(framework, call, handler, name, path)

    def _from_call(
        self,
        framework: Framework,
        call: ast.Call,
        handler: ast.AST | None,
        name: str | None,
        path: Path,
        *,
        is_first: bool = False,
    ) -> Definition:
        named = self._named(call, name, is_first=is_first)
        return Definition(named, call.lineno, framework, call, handler, path)

    def _named(self, call: ast.Call, name: str | None, *, is_first: bool = True) -> str | None:
        name_node = keyword_of(call, "name")
        if name_node is None and is_first and call.args:
            name_node = call.args[0]
            if self.module.text(name_node) is None and name is not None:
                return name  # an intent, or a function
        return name if name_node is None else self.module.text(name_node)

    def _framework(self, node: ast.expr) -> Framework | None:
        if self.module.dotted(node) in {f"{home}.tool" for home in _FAST_TOOLS}:
            return "fastmcp"
        if isinstance(node, ast.Attribute) and node.attr == "tool":
            return self._server(node.value)
        return None

    def _server(self, node: ast.expr) -> Framework | None:
        while isinstance(node, ast.Call):
            if not isinstance(node.func, ast.Attribute) or node.func.attr != "group":
                return self._kind(self.module.dotted(node.func))
            node = node.func.value
        constructor = self.bindings.get(_last(node), "")
        if constructor.endswith(".group"):
            return "sayso"
        return self._kind(constructor) or self._guessed(self.module.dotted(node))

    def _kind(self, dotted: str) -> Framework | None:
        if dotted in _BOUND or (dotted.startswith("sayso.") and dotted.endswith(".Tools")):
            return "sayso"
        if not dotted.endswith(_SERVERS):
            return None
        if dotted.startswith("fastmcp."):
            return "fastmcp"
        if dotted.startswith("mcp."):
            return "official"
        return self._usual

    def _guessed(self, dotted: str) -> Framework | None:
        """Guess the framework of an object from another file by its name."""
        last = dotted.rpartition(".")[2]
        if last not in ("server", "app") and not last.endswith("mcp"):
            return None
        return self._usual

    @property
    def _usual(self) -> Framework:
        roots = {dotted.partition(".")[0] for dotted in self.module.imports.values()}
        return "fastmcp" if "fastmcp" in roots else "official"
