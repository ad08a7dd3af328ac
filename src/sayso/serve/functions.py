"""Authors' functions: called by their parameters' names, and never leaking what they raise."""

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
from sayso.serve.page import as_object_type, unpaged
from sayso.serve.result import data_type, parted

_ANYWAY: Final = ("mcp.", "fastmcp.")
_OWN_WORDS: Final = frozenset({"ToolError", "ResourceError", "MCPError", "McpError"})
_KEPT: Final = "__sayso_kept__"
"""The attribute of what `kept_in` makes that says which one it is, also where it is wrapped."""

_MOST_SECONDS: Final = 10.0
"""How long a plan, a narrowing or a condition may take: all calls wait where these block."""

F = TypeVar("F", bound=Callable[..., Any])


class BrokenError(Exception):
    """Stands for what an author's function raised and no server survives: `SystemExit`, say."""


def by_name(
    function: Callable[..., Any] | None, seconds: float = _MOST_SECONDS
) -> Callable[[Mapping[str, Any]], Any] | None:
    """`function` as the guard calls it: with all arguments of a call.

    It gets those that it has parameters for; one called `arguments` gets all of them. A plain
    function runs in a thread. One that takes too long ends as `TimeoutError`.
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
            return await _survived(function, (), given, is_left=True)

    return call


def as_plan(
    function: Callable[..., Any] | None,
) -> Callable[[Mapping[str, Any]], Awaitable[Any]] | None:
    """A plan's function as the guard calls it: the same, and it may say why there is no plan."""
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


def kept_in(function: F, name: str = "", *, is_bound: bool = False) -> F:
    """`function` for a framework, but what it raises by mistake is kept for the guard to tell of.

    What an author raises on purpose (`ToolError` and its like) goes on as it is, as does
    cancellation. Where `is_bound`, it does not run but in a call of its own tool that the guard let
    through: what a tool that calls other tools by name reaches has passed no guard. Otherwise it
    runs inside another tool's call as any function does, and that call's result is not its own.
    Raises `UsageError` for what gives no one result, and for types that cannot be read.
    """
    mark = object()
    what = name or getattr(function, "__name__", "") or type(function).__name__
    _check(function, what)

    async def run(*args: Any, **kwargs: Any) -> Any:
        call = current_call()
        if is_bound and (call is None or call.call.name != what):
            raise UsageError(
                f"the tool {what!r} was called past sayso",
                fix="Call it through a client of the server that was bound.",
            )
        if call is None or not (is_bound or getattr(call.function, _KEPT, None) is mark):
            return unpaged(parted(await _survived(function, args, kwargs))[0])
        try:
            data, text = parted(await _survived(function, args, kwargs))
            value = unpaged(data)
        except Exception as error:
            # What is no mistake leaves no trace in the log, and what is one leaves the guard's.
            if is_on_purpose(error):
                call.crash = None
                call.said = error
                if not isinstance(error, SaysoError):
                    raise
                told = call.told(error, str(error))
            else:
                call.crash = error
                call.said = None
                told = call.told(error, "it failed")
            if told is error:
                raise
            raise told from error
        call.crash = None
        call.said = None
        call.returned = (value,)
        call.text = text
        return value

    _dress(run, function, what)
    setattr(run, _KEPT, mark)
    return run  # pyright: ignore[reportReturnType] - the same signature, as `_dress` says


def is_on_purpose(error: BaseException) -> bool:
    """Whether an author raised this so that the caller reads it."""
    if isinstance(error, SaysoError):
        return True
    return any(
        kind.__name__ in _OWN_WORDS and kind.__module__.startswith(_ANYWAY)
        for kind in type(error).__mro__
    )


def is_same(function: Callable[..., Any] | None, other: Callable[..., Any] | None) -> bool:
    """Whether a framework holds the same function still.

    Some are made anew each time that they are looked at, as where a framework transforms a tool:
    they are known by their code. What is declared stands for itself alone.
    """
    if function is other or hasattr(function, _KEPT) or hasattr(other, _KEPT):
        return function is other
    code = getattr(function, "__code__", None)
    return code is not None and code is getattr(other, "__code__", None)


async def called(function: Callable[..., Any], *args: Any) -> Any:
    """The result of an author's function. A plain one may block, so it runs in a thread.

    Raises what it raises; in the place of what no server survives, `BrokenError`.
    """
    return await _survived(function, args, {})


async def _survived(
    function: Callable[..., Any], args: Any, kwargs: Mapping[str, Any], *, is_left: bool = False
) -> Any:
    """Call it. A cancellation goes on only where there is one: a function may raise its own."""
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
        raise BrokenError from error
    except GeneratorExit as error:
        if task is None or _current_task() is not task:
            raise  # nobody runs this any more: it is being thrown away
        raise BrokenError from error
    except BaseException as error:
        raise BrokenError from error


def _in_thread(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Call it where no signal arrives: whatever ends a program, the function itself has raised."""
    try:
        return function(*args, **kwargs)
    except (KeyboardInterrupt, GeneratorExit) as error:
        raise BrokenError from error


def _current_task() -> asyncio.Task[Any] | None:
    try:
        return asyncio.current_task()
    except RuntimeError:
        return None


@contextlib.contextmanager
def surviving() -> Generator[None]:
    """Around what runs a little of an author's code at once: raises `BrokenError` as `called`."""
    try:
        yield
    except (Exception, KeyboardInterrupt):
        raise
    except BaseException as error:
        raise BrokenError from error


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
        raise UsageError(f"{function!r} is no function", where=f"tool {name}")
    check_result(_target(function), f"tool {name}")


def _dress(run: Any, function: Callable[..., Any], name: str) -> None:
    """Make `run` look like `function` to whoever reads signatures, whatever kind it is."""
    target = _target(function)
    if not inspect.isroutine(target):
        target = type(target).__call__
    try:
        hints = typing.get_type_hints(target, include_extras=True)
        signature = inspect.signature(function)
    except (NameError, TypeError, ValueError) as error:
        what = f"its signature cannot be read: {error}"
        raise UsageError(what, where=f"tool {name}") from error
    if wanted := [
        parameter for parameter in signature.parameters if hints.get(parameter) is Context
    ]:
        what = f"{wanted[0]!r} would be an argument that the caller gives"
        fix = "Call sayso.context() inside of the function."
        raise UsageError(what, where=f"tool {name}", fix=fix)
    for parameter in signature.parameters.values():
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            what = f"a call names its arguments, and {str(parameter)!r} cannot be named"
            raise UsageError(what, where=f"tool {name}", fix="Give each argument a name.")
    parameters = [
        parameter.replace(annotation=hints.get(parameter.name, parameter.annotation))
        for parameter in signature.parameters.values()
    ]
    result = as_object_type(data_type(hints.get("return", signature.return_annotation)))
    run.__signature__ = signature.replace(parameters=parameters, return_annotation=result)
    told = {parameter.name: parameter.annotation for parameter in parameters} | {"return": result}
    run.__annotations__ = {
        key: annotation
        for key, annotation in told.items()
        if annotation is not inspect.Parameter.empty
    }
    if inspect.isroutine(function):
        run.__dict__.update(getattr(function, "__dict__", {}))
    run.__name__ = run.__qualname__ = getattr(function, "__name__", name)
    run.__module__ = getattr(function, "__module__", run.__module__)
    run.__doc__ = inspect.getdoc(function)
