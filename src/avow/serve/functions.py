"""Authors' functions: called by their parameters' names, and never leaking what they raise."""

import functools
import inspect
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final, TypeVar

import anyio.to_thread

from avow.errors import AvowError, DeniedError
from avow.serve.context import current_call

_ANYWAY: Final = ("mcp.", "fastmcp.")
_OWN_WORDS: Final = frozenset({"ToolError", "ResourceError", "MCPError", "McpError"})

F = TypeVar("F", bound=Callable[..., Any])


def by_name(function: Callable[..., Any] | None) -> Callable[[Mapping[str, Any]], Any] | None:
    """`function` as the guard calls it: with all arguments of a call.

    It gets those that it has parameters for; one called `arguments` gets all of them.
    """
    if function is None:
        return None
    parameters = inspect.signature(function).parameters
    takes_all = any(one.kind is one.VAR_KEYWORD for one in parameters.values())

    def call(arguments: Mapping[str, Any]) -> Any:
        given = {
            name: value for name, value in arguments.items() if takes_all or name in parameters
        }
        if "arguments" in parameters and "arguments" not in given:
            given["arguments"] = arguments
        return function(**given)

    return call


def as_plan(
    function: Callable[..., Any] | None,
) -> Callable[[Mapping[str, Any]], Awaitable[Any]] | None:
    """A plan's function as the guard calls it: it may block, and may say why there is no plan."""
    named = by_name(function)
    if named is None:
        return None

    async def call(arguments: Mapping[str, Any]) -> Any:
        try:
            if inspect.iscoroutinefunction(function):
                return await named(arguments)
            value = await anyio.to_thread.run_sync(named, arguments)
            return await value if inspect.isawaitable(value) else value
        except Exception as error:
            if is_on_purpose(error):
                raise DeniedError(str(error)) from error
            raise

    return call


def kept_in(function: F) -> F:
    """`function` for a framework, but what it raises by mistake is kept for the guard to tell of.

    What an author raises on purpose (`ToolError` and its like) goes on as it is, as does
    cancellation. Errors of avow are kept too: a framework would take them for mistakes.
    """

    @functools.wraps(function)
    async def run(*args: Any, **kwargs: Any) -> Any:
        try:
            return await _called(function, args, kwargs)
        except Exception as error:
            call = current_call()
            if call is not None and isinstance(error, AvowError):
                call.said = error
            elif call is not None and not is_on_purpose(error):
                call.crash = error
            raise

    return run  # pyright: ignore[reportReturnType] - the same signature, told by `wraps`


async def _called(function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """A plain function may block: it runs in a thread, as frameworks do it themselves."""
    if inspect.iscoroutinefunction(function):
        return await function(*args, **kwargs)
    result = await anyio.to_thread.run_sync(functools.partial(function, *args, **kwargs))
    return await result if inspect.isawaitable(result) else result


def is_on_purpose(error: BaseException) -> bool:
    """Whether an author raised this so that the caller reads it."""
    if isinstance(error, AvowError):
        return True
    return any(
        one.__name__ in _OWN_WORDS and one.__module__.startswith(_ANYWAY)
        for one in type(error).__mro__
    )
