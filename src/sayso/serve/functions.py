"""Calls of authors' functions, by named arguments. Unexpected errors are hidden from clients."""

import asyncio
import contextlib
import functools
import inspect
import typing
from collections.abc import Awaitable, Callable, Generator, Mapping
from typing import Any, Final, TypeVar

import anyio
import anyio.lowlevel
import anyio.to_thread

from sayso.errors import DeniedError, SaysoError, UsageError
from sayso.serve.call_context import Context, current_call
from sayso.serve.handler import check_result
from sayso.serve.return_types import data_type, object_type, page_to_dict, split_result

_ERROR_MODULES: Final = ("mcp.", "fastmcp.")
_ERROR_NAMES: Final = frozenset({"ToolError", "ResourceError", "MCPError", "McpError"})
_KEPT: Final = "__sayso_kept__"
"""The attribute that marks a function made by `wrap_function`, even if it is wrapped again."""

_TIME_LIMIT_SECONDS: Final = 10.0
"""The time limit of a plan, a narrowing or a condition."""

F = TypeVar("F", bound=Callable[..., Any])


class ExitError(Exception):
    """Replaces an error that would end the server, such as `SystemExit`."""


def by_name(
    function: Callable[..., Any] | None, seconds: float = _TIME_LIMIT_SECONDS
) -> Callable[[Mapping[str, Any]], Any] | None:
    """Return `function` as a function of all arguments of a call, for the guard.

    `function` gets the arguments for which it has parameters; a parameter `arguments` gets them
    all. A plain function runs in a thread. The call raises `TimeoutError` after `seconds`.
    """
    if function is None:
        return None
    parameters = inspect.signature(function).parameters
    takes_all = any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values())

    async def call(arguments: Mapping[str, Any]) -> Any:
        given = {
            name: value for name, value in arguments.items() if takes_all or name in parameters
        }
        if "arguments" in parameters and "arguments" not in given:
            given["arguments"] = arguments
        with anyio.fail_after(seconds):
            return await _call_contained(function, (), given, is_left=True)

    return call


def as_plan(
    function: Callable[..., Any] | None,
) -> Callable[[Mapping[str, Any]], Awaitable[Any]] | None:
    """Return a plan's function, as `by_name` does; a deliberate error becomes a `DeniedError`."""
    named = by_name(function)
    if named is None:
        return None

    async def call(arguments: Mapping[str, Any]) -> Any:
        try:
            return await named(arguments)
        except Exception as error:
            if is_on_purpose(error):
                raise DeniedError(str(error)) from error
            raise

    return call


def wrap_function(function: F, name: str = "", *, is_bound: bool = False) -> F:
    """Return `function` for a framework, with its unexpected errors passed to the guard.

    Deliberate errors (`ToolError` and the like) and cancellation are not changed. With `is_bound`,
    the function runs only in an allowed call of its own tool, so that a tool cannot call another by
    name. Without `is_bound`, the function may run in another tool's call, and does not set that
    call's result. Raises `UsageError` for a generator and for types that cannot be read.
    """
    mark = object()
    what = name or getattr(function, "__name__", "") or type(function).__name__
    _check(function, what)

    async def run(*args: Any, **kwargs: Any) -> Any:
        call = current_call()
        if is_bound and (call is None or call.call.name != what):
            raise UsageError(
                f"the tool {what!r} was called without sayso's guard",
                fix="Call the tool through a client of the bound server.",
            )
        if call is None or not (is_bound or getattr(call.function, _KEPT, None) is mark):
            return page_to_dict(split_result(await _call_contained(function, args, kwargs))[0])
        try:
            data, text = split_result(await _call_contained(function, args, kwargs))
            value = page_to_dict(data)
        except Exception as error:
            # The guard logs unexpected errors. Deliberate errors are not logged.
            if is_on_purpose(error):
                call.crash = None
                call.raised = error
                if not isinstance(error, SaysoError):
                    raise
                public = call.public_error(error, str(error))
            else:
                call.crash = error
                call.raised = None
                public = call.public_error(error, "the tool failed")
            if public is error:
                raise
            raise public from error
        call.crash = None
        call.raised = None
        call.returned = (value,)
        call.text = text
        return value

    _dress(run, function, what)
    setattr(run, _KEPT, mark)
    return run  # pyright: ignore[reportReturnType] - the same signature, as `_dress` says


def is_on_purpose(error: BaseException) -> bool:
    """Return whether an author raised this error for the caller to read."""
    if isinstance(error, SaysoError):
        return True
    return any(
        kind.__name__ in _ERROR_NAMES and kind.__module__.startswith(_ERROR_MODULES)
        for kind in type(error).__mro__
    )


def is_same_function(function: Callable[..., Any] | None, other: Callable[..., Any] | None) -> bool:
    """Return whether two functions of a framework are the same.

    A transformed tool has a new function object at each lookup, which is recognized by its code.
    Declared functions must be identical.
    """
    if function is other or hasattr(function, _KEPT) or hasattr(other, _KEPT):
        return function is other
    code = getattr(function, "__code__", None)
    return code is not None and code is getattr(other, "__code__", None)


async def called(function: Callable[..., Any], *args: Any) -> Any:
    """Call an author's function. A plain function may block, so it runs in a thread.

    Raises the function's error, or `ExitError` in place of an error that would end the server.
    """
    return await _call_contained(function, args, {})


async def _call_contained(
    function: Callable[..., Any], args: Any, kwargs: Mapping[str, Any], *, is_left: bool = False
) -> Any:
    """Call a function. Raises `ExitError` in place of its errors that would end the server."""
    task = _current_task()
    try:
        if _is_async(function):
            return await function(*args, **kwargs)
        result = await anyio.to_thread.run_sync(
            functools.partial(_in_thread, function, *args, **kwargs), abandon_on_cancel=is_left
        )
        if inspect.isawaitable(result):
            return await result
        return result
    except (Exception, KeyboardInterrupt):
        raise
    except asyncio.CancelledError as error:
        if task is not None and task.cancelling():
            raise
        await anyio.lowlevel.checkpoint_if_cancelled()
        raise ExitError from error
    except GeneratorExit as error:
        if task is None or _current_task() is not task:
            raise  # the coroutine is being closed
        raise ExitError from error
    except BaseException as error:
        raise ExitError from error


def _in_thread(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Call a function in a thread, where exit errors can only come from the function itself."""
    try:
        return function(*args, **kwargs)
    except (KeyboardInterrupt, GeneratorExit) as error:
        raise ExitError from error


def _current_task() -> asyncio.Task[Any] | None:
    try:
        return asyncio.current_task()
    except RuntimeError:
        return None


@contextlib.contextmanager
def containing_exits() -> Generator[None]:
    """Raise `ExitError` in place of errors in the block that would end the server."""
    try:
        yield
    except (Exception, KeyboardInterrupt):
        raise
    except BaseException as error:
        raise ExitError from error


def _is_async(function: Callable[..., Any]) -> bool:
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(
        getattr(_target(function), "__call__", None)  # noqa: B004 - its own method is looked at
    )


def _target(function: Callable[..., Any]) -> Callable[..., Any]:
    while isinstance(function, functools.partial):
        function = function.func
    return function


def _check(function: Callable[..., Any], name: str) -> None:
    if not callable(function):
        raise UsageError(f"{function!r} is not a function", where=f"tool {name}")
    check_result(_target(function), f"tool {name}")


def _dress(run: Any, function: Callable[..., Any], name: str) -> None:
    """Give `run` the signature, annotations and names of `function`. Raises `UsageError`."""
    target = _target(function)
    if not inspect.isroutine(target):
        target = type(target).__call__
    try:
        hints = typing.get_type_hints(target, include_extras=True)
        signature = inspect.signature(function)
    except (NameError, TypeError, ValueError) as error:
        what = f"the function's signature cannot be read: {error}"
        raise UsageError(what, where=f"tool {name}") from error
    if contexts := [
        parameter for parameter in signature.parameters if hints.get(parameter) is Context
    ]:
        what = f"{contexts[0]!r} would become an argument of the tool"
        fix = "Call sayso.context() inside the function."
        raise UsageError(what, where=f"tool {name}", fix=fix)
    for parameter in signature.parameters.values():
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            what = f"{str(parameter)!r} cannot be passed by name"
            raise UsageError(what, where=f"tool {name}", fix="Give each argument a name.")
    parameters = [
        parameter.replace(annotation=hints.get(parameter.name, parameter.annotation))
        for parameter in signature.parameters.values()
    ]
    result = object_type(data_type(hints.get("return", signature.return_annotation)))
    run.__signature__ = signature.replace(parameters=parameters, return_annotation=result)
    types = {parameter.name: parameter.annotation for parameter in parameters} | {"return": result}
    run.__annotations__ = {
        key: annotation
        for key, annotation in types.items()
        if annotation is not inspect.Parameter.empty
    }
    if inspect.isroutine(function):
        run.__dict__.update(getattr(function, "__dict__", {}))
    run.__name__ = run.__qualname__ = getattr(function, "__name__", name)
    run.__module__ = getattr(function, "__module__", run.__module__)
    run.__doc__ = inspect.getdoc(function)
