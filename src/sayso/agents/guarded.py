"""A client that lists and calls tools through the guard, and leaves everything else unchanged."""

import json
import logging
from collections.abc import Callable, Iterable, Mapping
from functools import update_wrapper
from inspect import ismethod
from typing import TYPE_CHECKING, Any, Final, NoReturn, cast

import mcp_types as types
from mcp.shared.exceptions import MCPError
from pydantic import ConfigDict, TypeAdapter, ValidationError

from sayso.agents.server import GuardedServer
from sayso.agents.wire import SendOptions
from sayso.connect import MODERN, RpcError
from sayso.guard import Answer, Progress, UnknownToolError, no_progress
from sayso.policy import is_switched_off

if TYPE_CHECKING:
    from mcp.client.caching import CacheMode
    from mcp.shared.dispatcher import ProgressFnT

_log: Final = logging.getLogger(__name__)
_BLOCK: Final[TypeAdapter[types.ContentBlock]] = TypeAdapter(types.ContentBlock)
_OWN: Final = ("content", "structuredContent", "isError", "_meta", "resultType")


class Guarded:
    """A replacement for an `mcp.Client`, made by `sayso.wrap`.

    `list_tools` and `call_tool` go through the guard (`behind`). Every other public attribute is
    the client's, except `session`: calls on it would bypass the guard.
    """

    def __init__(self, server: GuardedServer) -> None:
        self.behind = server

    async def list_tools(
        self,
        *,
        cursor: str | None = None,
        meta: types.RequestParamsMeta | None = None,
        cache_mode: "CacheMode" = "use",  # noqa: ARG002 - the list is always fetched
    ) -> types.ListToolsResult:
        """Return all tools that the principal may see, with their resolved hints.

        The server's own hints are in each tool's `meta["io.sayso/intent"]`. Raises `MCPError`.
        """
        self.behind.check()
        if cursor is not None:
            raise MCPError(types.INVALID_PARAMS, "Invalid cursor: the list has one page")
        try:
            seen = await self.behind.tools(meta=meta)
        except RpcError as error:
            _raise(error)
        # The SDK's model has the fields of every protocol version, so list the modern form.
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
        """Call a tool, if the policy or a person allows it.

        If the call was denied, was not approved in time, or lost its answer, the result has
        `is_error` and explains this to the model. Raises `MCPError` for a missing or hidden tool
        and for an error of the server. Raises `StoreError` if nothing can be recorded; nothing was
        run then. `read_timeout_seconds` limits the server's time, not the person's. A call that is
        cancelled while waiting does not run. If it is cancelled later, the server is notified, and
        the recorded outcome is unknown.
        """
        has_progress = progress_callback is not None
        try:
            ended = await self.behind.call(
                name,
                dict(arguments or {}),
                options=SendOptions(
                    read_timeout_seconds, has_progress, input_responses, request_state
                ),
                progress=no_progress
                if progress_callback is None
                else _guarded_callback(progress_callback),
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
            message = f"{name!r} would bypass the guard; take it from the client itself"
            raise AttributeError(message)
        value = getattr(self.behind.wire.client, name)
        if ismethod(value):
            return _Checked(self.behind, value)
        return value

    def __repr__(self) -> str:
        return f"<sayso: {self.behind.principal.client} to {self.behind.name}>"


class _Checked:
    """A client's method that raises `MCPError` while the policy disables the server or caller."""

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


def _guarded_callback(callback: "ProgressFnT") -> Progress:
    """Return a callback that logs its errors, so that they do not fail the call."""

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


class _Result(types.CallToolResult):
    """A result with keys that the SDK does not know, in `model_extra`."""

    model_config = ConfigDict(extra="allow")


def call_result(answer: Answer) -> types.CallToolResult:
    """Return the SDK's result. A content block that the SDK does not know becomes JSON text."""
    blocks = answer.get("content")
    if not isinstance(blocks, list):
        blocks = []
    meta = answer.get("_meta")
    more = {key: value for key, value in answer.items() if key not in _OWN}
    fields: dict[str, Any] = {
        **more,
        "content": [_block(block) for block in cast("list[Any]", blocks)],
        "isError": answer.get("isError") is True,
        "_meta": meta if isinstance(meta, dict) else None,
    }
    if "structuredContent" in answer:
        fields["structuredContent"] = answer["structuredContent"]
    return (_Result if more else types.CallToolResult).model_validate(fields)


def tools_result(entries: Iterable[Mapping[str, Any]]) -> types.ListToolsResult:
    """Return the SDK's list. A tool that the SDK's model does not accept is left out and logged."""
    tools: list[types.Tool] = []
    for entry in entries:
        try:
            tools.append(types.Tool.model_validate({"inputSchema": {"type": "object"}, **entry}))
        except ValidationError as error:
            _log.warning("the tool %r is not listed: %s", entry.get("name"), error)
    return types.ListToolsResult(tools=tools)


def _block(raw: Any) -> types.ContentBlock:
    try:
        return _BLOCK.validate_python(raw)
    except ValidationError:
        return types.TextContent(text=json.dumps(raw, ensure_ascii=False, default=str))
