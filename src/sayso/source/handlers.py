"""The handlers of a server's tools, and what each does to the world."""

import ast
from collections.abc import Iterator, Mapping

from sayso.source.definitions import Definition, Dispatch, find_definitions, find_dispatch
from sayso.source.program import FunctionNode, Module, Project, make_project, read_module
from sayso.source.report import Handler, Note
from sayso.source.values import Function, Scope, Value
from sayso.source.walk import Walker


def read_handlers(files: Mapping[str, str]) -> tuple[Handler, ...]:
    """What the handlers of all tools do that the given files define: names to texts.

    Files are read, never run; a call into a file that is not among them cannot be told. Raises
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
    found = walker.trace
    unknown = [*found.unknown.values()]
    if line is None:
        line = definition.line
        why = "the function behind it is not found, or is too deep to be followed"
        unknown.append(Note(name, why, module.file, definition.line))
    return Handler(
        name,
        module.file,
        line,
        tuple(sorted(found.effects.values(), key=lambda effect: (effect.file, effect.line))),
        tuple(unknown),
        tuple(found.ignored.values()),
    )


def _walk(walker: Walker, module: Module, definition: Definition) -> int | None:
    """Look at a handler; the line where it begins, `None` where it is not found."""
    place = Dispatch(module, definition.handler or definition.place, definition.path)
    if definition.framework == "lowlevel":
        place = _dispatch(walker.names.project, module) or place
    scope = walker.scope_of(place.path, Scope(place.module, {}))
    function = _function(walker, place.handler, scope)
    if function is None:
        return None
    given = dict(_given(function, definition))
    walker.handle(function, given)
    return definition.line if given else function.node.lineno


def _dispatch(project: Project, module: Module) -> Dispatch | None:
    """What runs the tools that a file tells of: there, or in the only file that has such."""
    if own := find_dispatch(module):
        return own
    found = [dispatch for other in project.modules if (dispatch := find_dispatch(other))]
    if len(found) == 1:
        return found[0]
    return None


def _function(walker: Walker, handler: ast.AST | None, scope: Scope) -> Function | None:
    if isinstance(handler, FunctionNode):
        return Function(scope.module, handler, scope)
    return walker.evaluator.value(handler, scope).function


def _given(function: Function, definition: Definition) -> Iterator[tuple[str, Value]]:
    """The name with which the one handler of a low-level server is called for this tool."""
    if definition.framework != "lowlevel" or definition.name is None:
        return
    named = Value(text=definition.name, is_whole=True)
    args = [arg for arg in function.node.args.args if arg.arg != "self"]
    if args and args[0].arg in ("name", "tool_name", "tool"):
        yield args[0].arg, named
    elif args:
        yield args[-1].arg, Value(type="mcp.CallToolRequestParams", table=(("name", named),))
