"""The three kinds of server to which tools can be bound.

Each kind contains the official SDK's low-level server, which gets the middleware. The kinds differ
in how a function becomes a tool.
"""

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Protocol, cast

import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.utilities.func_metadata import func_metadata
from mcp.shared.exceptions import MCPError
from pydantic import BaseModel, ValidationError

from sayso.errors import UsageError
from sayso.intent import WIRE_NAMES
from sayso.serve.call_context import Context, RawResult
from sayso.serve.definition import Execute
from sayso.serve.entry_check import mounted_in, watch_components, watch_manager
from sayso.serve.functions import containing_exits
from sayso.serve.results import with_matching_text
from sayso.serve.values import ShapeError

if TYPE_CHECKING:
    from sayso.guard import Answer

_log: Final = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Shape:
    """A function as a tool: its schemas, and `execute`, or `function` if the framework calls it."""

    description: str
    input_schema: Mapping[str, Any]
    output_schema: Mapping[str, Any] | None
    execute: Execute | None = None
    function: Callable[..., Any] | None = None


class Framework(Protocol):
    """A kind of server."""

    @property
    def lowlevel(self) -> Server[Any]: ...

    @property
    def knows_callers(self) -> bool | None:
        """True if calls over HTTP need a token, or `None` if unknown."""
        ...

    async def entries(self) -> list[dict[str, Any]]:
        """Return the tools known before a client connects, in wire form."""
        ...

    def remove(self, name: str) -> None: ...

    def add(self, function: Callable[..., Any], name: str, description: str | None) -> Shape: ...

    async def function_of(self, name: str) -> Callable[..., Any] | None:
        """Return the function of a tool, if the framework knows it."""
        ...

    @property
    def entrance(self) -> Any:
        """The object that runs tools, for `entry_check`, or `None`."""
        ...

    def public_error(self, error: Exception, text: str) -> Exception:
        """Return an error to raise instead of `error`, so that the framework logs no traceback."""
        ...


@dataclass(frozen=True, slots=True)
class _McpServer:
    """`MCPServer` of the official SDK."""

    server: MCPServer[Any]

    def __post_init__(self) -> None:
        watch_manager(self.entrance)

    @property
    def entrance(self) -> Any:
        return self.server._tool_manager  # noqa: SLF001  # pyright: ignore[reportPrivateUsage] - the SDK has no other way

    @property
    def lowlevel(self) -> Server[Any]:
        return self.server._lowlevel_server  # noqa: SLF001  # pyright: ignore[reportPrivateUsage] - the SDK has no other way

    @property
    def knows_callers(self) -> bool | None:
        return self.server.settings.auth is not None

    async def entries(self) -> list[dict[str, Any]]:
        return [_wire(tool) for tool in await self.server.list_tools()]

    def remove(self, name: str) -> None:
        self.server.remove_tool(name)

    def add(self, function: Callable[..., Any], name: str, description: str | None) -> Shape:
        if self._tool(name) is not None:
            raise _taken(name, self.server.name)
        self.server.add_tool(function, name=name, description=description)
        tool = self._tool(name)
        return Shape(tool.description, tool.parameters, tool.output_schema, function=function)

    async def function_of(self, name: str) -> Callable[..., Any] | None:
        tool = self._tool(name)
        return None if tool is None else tool.fn

    def public_error(self, error: Exception, text: str) -> Exception:
        del error
        return ToolError(text)

    def _tool(self, name: str) -> Any:
        return self.entrance.get_tool(name)


@dataclass(frozen=True, slots=True)
class _FastMcp:
    """`FastMCP`, in version 4."""

    server: Any

    def __post_init__(self) -> None:
        _mask(self.server)
        watch_components()

    @property
    def entrance(self) -> Any:
        return self.server

    @property
    def knows_callers(self) -> bool | None:
        return self.server.auth is not None

    async def entries(self) -> list[dict[str, Any]]:
        from fastmcp.utilities.versions import dedupe_with_versions  # noqa: PLC0415 - as below

        tools: list[Any] = list(await self.server.list_tools())
        versioned = {tool.name for tool in tools if tool.version is not None}
        alone = [tool for tool in tools if tool.name not in versioned]
        # If a tool has several versions, clients see the newest.
        newest = dedupe_with_versions(
            [tool for tool in tools if tool.name in versioned], lambda tool: tool.name
        )
        return [_wire(tool.to_mcp_tool()) for tool in [*alone, *newest]]

    def remove(self, name: str) -> None:
        self.server.local_provider.remove_tool(name)

    @property
    def lowlevel(self) -> Server[Any]:
        return cast("Server[Any]", self.server._mcp_server)  # noqa: SLF001 - FastMCP has no other way

    def add(self, function: Callable[..., Any], name: str, description: str | None) -> Shape:
        from fastmcp.tools import FunctionTool  # noqa: PLC0415 - an extra, imported where it is used

        held: Mapping[str, Any] = self.server.local_provider._components  # noqa: SLF001 - it can only be asked in a coroutine
        if any(
            isinstance(component, FunctionTool) and component.name == name
            for component in held.values()
        ):
            raise _taken(name, self.server.name)
        tool = FunctionTool.from_function(function, name=name, description=description)
        self.server.add_tool(tool)
        text = tool.description or ""
        return Shape(text, tool.parameters, tool.output_schema, function=tool.fn)

    async def function_of(self, name: str) -> Callable[..., Any] | None:
        _mask(self.server)  # servers may have been mounted since the last call
        tool = await self.server.get_tool(name)
        return getattr(tool, "fn", None)

    def public_error(self, error: Exception, text: str) -> Exception:
        del error
        from fastmcp.exceptions import ToolError as FastToolError  # noqa: PLC0415 - as above

        return FastToolError(text)


@dataclass(frozen=True, slots=True)
class _LowLevel:
    """The low-level `Server`, whose only tools are those that its handlers list."""

    server: Server[Any]

    def __post_init__(self) -> None:
        if self.server.get_request_handler("tools/list") is None:
            handlers = (
                ("tools/list", types.PaginatedRequestParams, _list_nothing),
                ("tools/call", types.CallToolRequestParams, _call_unknown),
            )
            for method, params, handler in handlers:
                self.server.add_request_handler(method, params, handler)
        entry = self.server.get_request_handler("tools/list")
        if entry is not None:
            listed = _drop_invalid_hints(entry.handler)
            self.server.add_request_handler("tools/list", entry.params_type, listed)

    @property
    def lowlevel(self) -> Server[Any]:
        return self.server

    @property
    def entrance(self) -> Any:
        return None  # the author's own handler calls the functions

    @property
    def knows_callers(self) -> bool | None:
        return None

    async def entries(self) -> list[dict[str, Any]]:
        return []

    def remove(self, name: str) -> None:
        pass

    def add(self, function: Callable[..., Any], name: str, description: str | None) -> Shape:
        made = func_metadata(function)
        schema = made.arg_model.model_json_schema(by_alias=True)

        async def execute(_: Context, arguments: Mapping[str, Any]) -> "Answer":
            try:
                with containing_exits():
                    given = made.validate_arguments(dict(arguments))
            except ValidationError as error:
                raise ToolError(f"{name} does not take these arguments: {error}") from error
            value = await function(**given)
            try:
                result = _wire(made.convert_result(value))
            except Exception as error:  # a type's own code may raise anything
                raise ShapeError("the value does not match the tool's return type") from error
            return RawResult(with_matching_text(result, value))

        return Shape(description or "", schema, made.output_schema, execute)

    async def function_of(self, name: str) -> Callable[..., Any] | None:
        del name

    def public_error(self, error: Exception, text: str) -> Exception:
        del text
        return error  # it goes to the author's own handler or to the guard


def framework_of(server: object) -> Framework:
    """Return the framework of a server. Raises `UsageError` for an unknown kind."""
    if isinstance(server, MCPServer):
        return _McpServer(cast("MCPServer[Any]", server))
    if any(kind.__module__.startswith("fastmcp.") for kind in type(server).__mro__):
        return _FastMcp(server)
    if isinstance(server, Server):
        return _LowLevel(cast("Server[Any]", server))
    what = f"tools cannot be bound to a {type(server).__name__}"
    raise UsageError(what, fix="Give an MCPServer, a low-level Server, or a FastMCP.")


def _wire(model: BaseModel) -> dict[str, Any]:
    return model.model_dump(mode="json", by_alias=True, exclude_none=True)


def _mask(server: Any) -> None:
    """Hide the details of tools' unexpected errors, in this server and all mounted ones."""
    server._mask_error_details = True  # noqa: SLF001 - it takes this only when it is made
    for mounted in mounted_in(server):
        if not mounted._mask_error_details:  # noqa: SLF001 - as above
            _mask(mounted)


def _taken(name: str, server: str) -> UsageError:
    what = f"two tools are called {name!r}"
    return UsageError(what, where=server, fix="Give each its own name.")


def _drop_invalid_hints(handler: Any) -> Any:
    """Wrap a list handler to drop hints that are not booleans, which the SDK would convert."""

    async def listed(ctx: Any, params: Any) -> Any:
        result = await handler(ctx, params)
        if not isinstance(result, dict):
            return result
        page = cast("dict[str, Any]", result)
        tools = cast("list[dict[str, Any]]", page.get("tools") or [])
        return {**page, "tools": [_with_booleans(tool) for tool in tools]}

    return listed


def _with_booleans(entry: dict[str, Any]) -> dict[str, Any]:
    annotations: dict[str, Any] = entry.get("annotations") or {}
    wrong = [
        key
        for key in WIRE_NAMES.values()
        if key in annotations and not isinstance(annotations[key], bool)
    ]
    for key in wrong:
        _log.warning(
            "%s of the tool %r is not a boolean; it counts as unset", key, entry.get("name")
        )
    if not wrong:
        return entry
    kept = {key: value for key, value in annotations.items() if key not in wrong}
    return {**entry, "annotations": kept}


async def _list_nothing(_ctx: Any, _params: Any) -> types.ListToolsResult:
    return types.ListToolsResult(tools=[])


async def _call_unknown(_ctx: Any, params: Any) -> dict[str, Any]:
    raise MCPError(types.INVALID_PARAMS, f"Unknown tool: {params.name}")
