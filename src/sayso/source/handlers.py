"""The handlers of a server's tools, with their effects."""

import ast
from collections.abc import Iterator, Mapping

from sayso.source.definitions import Definition, Dispatch, find_definitions, find_dispatch
from sayso.source.program import FunctionNode, Module, Project, make_project, read_module
from sayso.source.report import Handler, Note
from sayso.source.values import Function, Scope, Value
from sayso.source.walk import Walker


def read_handlers(files: Mapping[str, str]) -> tuple[Handler, ...]:
    """Analyze the handlers of all tools in `files`, a mapping of file names to texts.

    Files are parsed, never run. Calls into files that are not in `files` are unknown. Raises
    `ConfigError` for a file that is not Python.
    """
    project = make_project(read_module(file, text) for file, text in files.items())
    walker = Walker(project)
    return tuple(
        _read_handler(walker, module, definition)
        for module in project.modules
        for definition in find_definitions(module)
        if definition.name
    )


def _read_handler(walker: Walker, module: Module, definition: Definition) -> Handler:
    name = definition.name or ""
    walker.begin()
    try:
        line = _walk(walker, module, definition)
    except RecursionError:
        line = None
    trace = walker.trace
    unknown = [*trace.unknown.values()]
    if line is None:
        line = definition.line
        why = "the tool's function is not found, or nested too deeply to follow"
        unknown.append(Note(name, why, module.file, definition.line))
    return Handler(
        name,
        module.file,
        line,
        tuple(sorted(trace.effects.values(), key=lambda effect: (effect.file, effect.line))),
        tuple(unknown),
        tuple(trace.ignored.values()),
    )


def _walk(walker: Walker, module: Module, definition: Definition) -> int | None:
    """Analyze a handler and return its line; return `None` if no handler is found."""
    place = Dispatch(module, definition.handler or definition.place, definition.path)
    if definition.framework == "lowlevel":
        place = _dispatch(walker.names.project, module) or place
    scope = walker.scope_of(place.path, Scope(place.module, {}))
    function = _function(walker, place.handler, scope)
    if function is None:
        return None
    arguments = dict(_tool_argument(function, definition))
    walker.handle(function, arguments)
    return definition.line if arguments else function.node.lineno


def _dispatch(project: Project, module: Module) -> Dispatch | None:
    """Return the dispatcher of a file's tools: in the file, or the only one in the project."""
    if own := find_dispatch(module):
        return own
    others = [dispatch for other in project.modules if (dispatch := find_dispatch(other))]
    return others[0] if len(others) == 1 else None


def _function(walker: Walker, handler: ast.AST | None, scope: Scope) -> Function | None:
    if isinstance(handler, FunctionNode):
        return Function(scope.module, handler, scope)
    return walker.evaluator.value(handler, scope).function


def _tool_argument(function: Function, definition: Definition) -> Iterator[tuple[str, Value]]:
    """Yield the parameter by which a low-level server's handler learns the tool, with its value."""
    if definition.framework != "lowlevel" or definition.name is None:
        return
    named = Value(text=definition.name, is_whole=True)
    args = [arg for arg in function.node.args.args if arg.arg != "self"]
    if args and args[0].arg in ("name", "tool_name", "tool"):
        yield args[0].arg, named
    elif args:
        yield args[-1].arg, Value(type="mcp.CallToolRequestParams", table=(("name", named),))
