"""A client whose calls take the guard; everything else is the client's own."""

import logging
from collections.abc import Callable, Mapping
from functools import update_wrapper
from inspect import ismethod
from typing import TYPE_CHECKING, Any, Final, NoReturn

import mcp_types as types
from mcp.shared.exceptions import MCPError

from sayso.agents.result import call_result, tools_result
from sayso.agents.server import GuardedServer
from sayso.agents.wire import Errand
from sayso.connect import MODERN, RpcError
from sayso.guard import Progress, UnknownToolError, no_progress
from sayso.policy import is_switched_off

if TYPE_CHECKING:
    from mcp.client.caching import CacheMode
    from mcp.shared.dispatcher import ProgressFnT

_log: Final = logging.getLogger(__name__)


class Guarded:
    """Stands where a `mcp.Client` stood: `sayso.wrap` makes it.

    `list_tools` and `call_tool` take the guard; every other public attribute is the client's. The
    client's `session` is not handed out: its calls would go around the guard. `behind` is what its
    calls go through.
    """

    def __init__(self, server: GuardedServer) -> None:
        self.behind = server

    async def list_tools(
        self,
        *,
        cursor: str | None = None,
        meta: types.RequestParamsMeta | None = None,
        cache_mode: "CacheMode" = "use",  # noqa: ARG002 - the list is asked for anew in any case
    ) -> types.ListToolsResult:
        """The tools that the principal may know of, with the hints that count; all pages at once.

        What the server had declared is in each tool's `meta["io.sayso/intent"]`. Raises `MCPError`.
        """
        self.behind.check()
        if cursor is not None:
            raise MCPError(types.INVALID_PARAMS, "Invalid cursor: the list has one page")
        try:
            seen = await self.behind.tools(meta=meta)
        except RpcError as error:
            _raise(error)
        # A model of the SDK holds what every version knows.
        return tools_result({**tool.listing(MODERN), "name": tool.name} for tool, _ in seen)

    async def call_tool(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        read_timeout_seconds: float | None = None,
        progress_callback: "ProgressFnT | None" = None,
        *,
        input_responses: types.InputResponses | None = None,
        request_state: str | None = None,
        meta: types.RequestParamsMeta | None = None,
    ) -> types.CallToolResult:
        """Call a tool, if policy or a person allows it.

        A call that was denied, waits in vain or whose answer was lost is a result with `is_error`
        that says so in words for the model. Raises `MCPError` for a tool that is not there or
        hidden, and for an error of the server; `StoreError` where nothing can be recorded, and
        then nothing was run. `read_timeout_seconds` is for the server, not for the person.

        Cancelled while it waits, nothing runs; cancelled later, the server is told, and the record
        says that nobody knows whether it ran.
        """
        has_progress = progress_callback is not None
        try:
            ended = await self.behind.call(
                name,
                dict(arguments or {}),
                errand=Errand(read_timeout_seconds, has_progress, input_responses, request_state),
                progress=no_progress if progress_callback is None else _told(progress_callback),
                meta=meta,
            )
        except UnknownToolError as error:
            raise MCPError(types.INVALID_PARAMS, str(error)) from None
        except RpcError as error:
            if error.code == types.HEADER_MISMATCH:
                self.behind.listing.forget()
            _raise(error)
        return call_result(ended.answer)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name == "session":
            message = f"{name!r} would go around the guard; take it from the client itself"
            raise AttributeError(message)
        value = getattr(self.behind.wire.client, name)
        if ismethod(value):
            return _Checked(self.behind, value)
        return value

    def __repr__(self) -> str:
        return f"<sayso: {self.behind.principal.client} to {self.behind.name}>"


class _Checked:
    """A method of the client that is refused while the policy switches off server or caller.

    Calling it raises `MCPError` then, and otherwise what it raises itself.
    """

    def __init__(self, server: GuardedServer, method: Callable[..., Any]) -> None:
        self._server = server
        self._method = method
        update_wrapper(self, method)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        server = self._server
        policy = server.guard.policy()
        subject = server.principal.subject
        if is_switched_off(policy, server=server.name, subject=subject):
            raise MCPError(types.INVALID_REQUEST, "the policy switches off this server or caller")
        return self._method(*args, **kwargs)


def _told(callback: "ProgressFnT") -> Progress:
    """A callback that fails costs its message, not the call."""

    async def tell(progress: float, total: float | None, message: str | None) -> None:
        try:
            await callback(progress, total, message)
        except Exception:  # noqa: BLE001 - the program's own function
            _log.exception("the progress callback failed")

    return tell


def _raise(error: RpcError) -> NoReturn:
    if isinstance(error.__cause__, MCPError):
        raise error.__cause__ from None
    raise MCPError(error.code, error.message, error.data) from None
