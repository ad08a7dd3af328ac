"""Conversion of handlers to functions of context and arguments."""

import inspect
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from sayso.errors import UsageError

if TYPE_CHECKING:
    from sayso.serve.call_context import Context

_CONTEXTS: Final = frozenset({"ctx", "context"})


def as_execute(
    handler: object, known: frozenset[str], *, where: str
) -> "Callable[[Context, Mapping[str, Any]], Any]":
    """Return a function of `(ctx, arguments)` that calls `handler` with the parameters it has.

    `known` are the tool's arguments. If all parameters are among them, they are passed by name.
    Otherwise a parameter named `ctx` or `context`, or annotated as `Context`, gets the context.
    One other parameter may get all arguments as a mapping; any further one raises `UsageError`.

    >>> as_execute(lambda: "pong", frozenset(), where="tool ping")(None, {})
    'pong'
    """
    parameters = _parameters(handler, where)
    assert callable(handler)  # noqa: S101 - its parameters were read
    contexts = [parameter.name for parameter in parameters if _is_context(parameter, known)]
    others = [parameter for parameter in parameters if parameter.name not in contexts]
    if len(contexts) > 1:
        raise _wants(handler, where)
    if _by_name(others, known):
        return _naming(handler, contexts, others)
    needed = [parameter for parameter in others if parameter.default is parameter.empty]
    if len(needed) > 1 or needed[:1] != others[: len(needed)]:
        raise _wants(handler, where)
    return _positional(handler, parameters, contexts, others[:1])


def check_result(function: object, where: str) -> None:
    """Raise `UsageError` if `function` is a generator."""
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        fix = "Return a list, or a sayso.Page of one."
        raise UsageError("a generator does not return one result", where=where, fix=fix)


def _parameters(handler: object, where: str) -> list[inspect.Parameter]:
    if not callable(handler) or isinstance(handler, type):
        raise UsageError(f"handler must be a function, not {handler!r}", where=where)
    check_result(handler, where)
    try:
        return list(inspect.signature(handler).parameters.values())
    except (TypeError, ValueError) as error:
        raise UsageError(f"the parameters of {handler!r} cannot be read", where=where) from error


def _is_context(parameter: inspect.Parameter, known: frozenset[str]) -> bool:
    if parameter.name in known:
        return False
    annotation = parameter.annotation
    name = annotation if isinstance(annotation, str) else getattr(annotation, "__name__", "")
    return name.rpartition(".")[2] == "Context" or parameter.name in _CONTEXTS


def _by_name(others: list[inspect.Parameter], known: frozenset[str]) -> bool:
    named = [parameter for parameter in others if parameter.kind is not parameter.VAR_KEYWORD]
    has_all = any(parameter.kind is parameter.VAR_KEYWORD for parameter in others)
    if any(
        parameter.kind in (parameter.POSITIONAL_ONLY, parameter.VAR_POSITIONAL)
        for parameter in named
    ):
        return False
    is_known = all(
        parameter.name in known or parameter.default is not parameter.empty for parameter in named
    )
    return (
        has_all or (is_known and any(parameter.name in known for parameter in named)) or not others
    )


def _naming(
    handler: Callable[..., Any], contexts: list[str], others: list[inspect.Parameter]
) -> "Callable[[Context, Mapping[str, Any]], Any]":
    takes_all = any(parameter.kind is parameter.VAR_KEYWORD for parameter in others)
    names = {parameter.name for parameter in others}

    def execute(ctx: "Context", arguments: Mapping[str, Any]) -> Any:
        named = {key: value for key, value in arguments.items() if takes_all or key in names}
        return handler(**named, **dict.fromkeys(contexts, ctx))

    return execute


def _positional(
    handler: Callable[..., Any],
    parameters: list[inspect.Parameter],
    contexts: list[str],
    others: list[inspect.Parameter],
) -> "Callable[[Context, Mapping[str, Any]], Any]":
    order = [
        parameter for parameter in parameters if parameter.name in contexts or parameter in others
    ]

    def execute(ctx: "Context", arguments: Mapping[str, Any]) -> Any:
        positional: list[Any] = []
        named: dict[str, Any] = {}
        for parameter in order:
            value = ctx if parameter.name in contexts else arguments
            if parameter.kind is parameter.KEYWORD_ONLY:
                named[parameter.name] = value
            else:
                positional.append(value)
        return handler(*positional, **named)

    return execute


def _wants(handler: object, where: str) -> UsageError:
    called = getattr(handler, "__name__", "the handler")
    fix = "Use the tool's arguments by name, (ctx, arguments), (arguments), or no parameters."
    return UsageError(f"{called} requires a parameter that the tool lacks", where=where, fix=fix)
