"""A client whose calls take the guard; everything else is the client's own."""

import logging
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NoReturn

import mcp_types as types
from mcp.shared.exceptions import MCPError

from avow.agents.listing import Listing
from avow.agents.result import call_result, tools_result
from avow.agents.wire import Errand, Wire
from avow.connect import RpcError
from avow.connect.envelope import MODERN
from avow.errors import UsageError
from avow.guard import Guard, UnknownToolError
from avow.guard.call import Progress, no_progress
from avow.policy import Principal

if TYPE_CHECKING:
    from mcp.client.caching import CacheMode
    from mcp.shared.dispatcher import ProgressFnT

_log: Final = logging.getLogger(__name__)


class Guarded:
    """Stands where a `mcp.Client` stood: `avow.wrap` makes it.

    `list_tools` and `call_tool` take the guard; every other public attribute is the client's. The
    client's `session` is not handed out: its calls would go around the guard.
    """

    def __init__(self, wire: Wire, listing: Listing, guard: Guard, principal: Principal) -> None:
        self._wire = wire
        self._listing = listing
        self._guard = guard
        self._principal = principal

    async def list_tools(
        self,
        *,
        cursor: str | None = None,
        meta: types.RequestParamsMeta | None = None,
        cache_mode: "CacheMode" = "use",  # noqa: ARG002 - the list is asked for anew in any case
    ) -> types.ListToolsResult:
        """The tools that the principal may know of, with the hints that count; all pages at once.

        What the server had declared is in each tool's `meta["io.avow/intent"]`. Raises `MCPError`.
        """
        self._check()
        if cursor is not None:
            raise MCPError(types.INVALID_PARAMS, "Invalid cursor: the list has one page")
        try:
            tools = await self._listing.ask(meta)
        except RpcError as error:
            _raise(error)
        seen = (self._guard.sees(self._principal, tool) for tool in tools.values())
        # A model of the SDK holds what every version knows.
        return tools_result(
            {**one[0].listing(MODERN), "name": one[0].name} for one in seen if one is not None
        )

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
        self._check()
        has_progress = progress_callback is not None
        errand = Errand(read_timeout_seconds, has_progress, input_responses, request_state)
        guard = replace(self._guard, run=partial(self._wire.call, errand))
        try:
            answer = await guard.call(
                self._principal,
                name,
                dict(arguments or {}),
                progress=no_progress if progress_callback is None else _told(progress_callback),
                meta=meta,
            )
        except UnknownToolError as error:
            raise MCPError(types.INVALID_PARAMS, str(error)) from None
        except RpcError as error:
            if error.code == types.HEADER_MISMATCH:
                self._listing.forget()
            _raise(error)
        return call_result(answer)

    def _check(self) -> None:
        if self._listing.is_left:
            fix = "Keep it inside of its async with."
            raise UsageError("this wrapped client is not in use any more", where="wrap", fix=fix)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name == "session":
            message = f"{name!r} would go around the guard; take it from the client itself"
            raise AttributeError(message)
        return getattr(self._wire.client, name)

    def __repr__(self) -> str:
        return f"<avow: {self._principal.client} to {self._listing.server}>"


def _told(callback: "ProgressFnT") -> Progress:
    """A callback that fails costs its message, not the call."""

    async def tell(progress: float, total: float | None, message: str | None) -> None:
        try:
            await callback(progress, total, message)
        except Exception:  # noqa: BLE001 - the program's own function
            _log.exception("the progress callback failed")

    return tell


def _raise(error: RpcError) -> NoReturn:
    """Raise what the SDK's client would have raised."""
    if isinstance(error.__cause__, MCPError):
        raise error.__cause__ from None
    raise MCPError(error.code, error.message, error.data) from None
