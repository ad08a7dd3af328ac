"""The three kinds of server that tools are bound to, and what is different about each.

Inside, each is the official SDK's low-level server; there the middleware is put in. What differs is how
a function becomes a tool.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, cast

import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.utilities.func_metadata import func_metadata
from pydantic import BaseModel, ValidationError

from sayso.errors import UsageError
from sayso.serve.call_context import Context, Made
from sayso.serve.definition import Execute
from sayso.serve.entry_check import mounted_in, watch_components, watch_manager
from sayso.serve.functions import surviving
from sayso.serve.handlers import know_none, list_none, read_raw
from sayso.serve.results import agreed
from sayso.serve.values import ShapeError

if TYPE_CHECKING:
    from sayso.guard import Answer


@dataclass(frozen=True, slots=True)
class Shape:
    """What a framework made of a function: its schemas, and who carries it out.

    `execute` is `None` where the framework does, with `function`.
    """

    description: str
    input_schema: Mapping[str, Any]
    output_schema: Mapping[str, Any] | None
    execute: Execute | None = None
    function: Callable[..., Any] | None = None


class Framework(Protocol):
    """One kind of server."""

    @property
    def lowlevel(self) -> Server[Any]:
        """The SDK's server inside."""
        ...

    @property
    def knows_callers(self) -> bool | None:
        """Whether calls over HTTP need a token; `None` where it cannot be told."""
        ...

    async def entries(self) -> list[dict[str, Any]]:
        """The tools that it knows of before anybody has connected, in wire form."""
        ...

    def remove(self, name: str) -> None:
        """Take a tool out again."""
        ...

    def add(self, function: Callable[..., Any], name: str, description: str | None) -> Shape:
        """Register a function as a tool."""
        ...

    async def function_of(self, name: str) -> Callable[..., Any] | None:
        """The function of a tool, where the framework knows it."""
        ...

    @property
    def entrance(self) -> Any:
        """What enters tools and is watched for it; `None` where nothing is."""
        ...

    def told(self, error: Exception, text: str) -> Exception:
        """What goes on to the framework in the place of an error, so that its log has no trace."""
        ...


@dataclass(frozen=True, slots=True)
class _McpServer:
    """`MCPServer` of the official SDK."""

    server: MCPServer[Any]

    def __post_init__(self) -> None:
        watch_manager(self.entrance)

    @property
    def entrance(self) -> Any:
        """See `Framework.entrance`."""
        return self.server._tool_manager  # noqa: SLF001  # pyright: ignore[reportPrivateUsage] - the SDK has no other way

    @property
    def lowlevel(self) -> Server[Any]:
        """See `Framework.lowlevel`."""
        return self.server._lowlevel_server  # noqa: SLF001  # pyright: ignore[reportPrivateUsage] - the SDK has no other way

    @property
    def knows_callers(self) -> bool | None:
        """See `Framework.knows_callers`."""
        return self.server.settings.auth is not None

    async def entries(self) -> list[dict[str, Any]]:
        """See `Framework.entries`."""
        return [_wire(tool) for tool in await self.server.list_tools()]

    def remove(self, name: str) -> None:
        """See `Framework.remove`."""
        self.server.remove_tool(name)

    def add(self, function: Callable[..., Any], name: str, description: str | None) -> Shape:
        """See `Framework.add`."""
        if self._tool(name) is not None:
            raise _taken(name, self.server.name)
        self.server.add_tool(function, name=name, description=description)
        tool = self._tool(name)
        return Shape(tool.description, tool.parameters, tool.output_schema, function=function)

    async def function_of(self, name: str) -> Callable[..., Any] | None:
        """See `Framework.function_of`."""
        tool = self._tool(name)
        return None if tool is None else tool.fn

    def told(self, error: Exception, text: str) -> Exception:
        """See `Framework.told`."""
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
        """See `Framework.entrance`."""
        return self.server

    @property
    def knows_callers(self) -> bool | None:
        """See `Framework.knows_callers`."""
        return self.server.auth is not None

    async def entries(self) -> list[dict[str, Any]]:
        """See `Framework.entries`."""
        from fastmcp.utilities.versions import dedupe_with_versions  # noqa: PLC0415 - as below

        tools: list[Any] = list(await self.server.list_tools())
        versioned = {tool.name for tool in tools if tool.version is not None}
        alone = [tool for tool in tools if tool.name not in versioned]
        # Of several versions a client is listed the newest, as here.
        newest = dedupe_with_versions(
            [tool for tool in tools if tool.name in versioned], lambda tool: tool.name
        )
        return [_wire(tool.to_mcp_tool()) for tool in [*alone, *newest]]

    def remove(self, name: str) -> None:
        """See `Framework.remove`."""
        self.server.local_provider.remove_tool(name)

    @property
    def lowlevel(self) -> Server[Any]:
        """See `Framework.lowlevel`."""
        return cast("Server[Any]", self.server._mcp_server)  # noqa: SLF001 - FastMCP has no other way

    def add(self, function: Callable[..., Any], name: str, description: str | None) -> Shape:
        """See `Framework.add`."""
        from fastmcp.tools import FunctionTool  # noqa: PLC0415 - an extra, imported where it is used

        held: Mapping[str, Any] = self.server.local_provider._components  # noqa: SLF001 - it can only be asked in a coroutine
        if any(
            isinstance(component, FunctionTool) and component.name == name
            for component in held.values()
        ):
            raise _taken(name, self.server.name)
        tool = FunctionTool.from_function(function, name=name, description=description)
        self.server.add_tool(tool)
        told = tool.description or ""
        return Shape(told, tool.parameters, tool.output_schema, function=tool.fn)

    async def function_of(self, name: str) -> Callable[..., Any] | None:
        """See `Framework.function_of`."""
        _mask(self.server)  # others may have been mounted since
        tool = await self.server.get_tool(name)
        return getattr(tool, "fn", None)

    def told(self, error: Exception, text: str) -> Exception:
        """See `Framework.told`."""
        del error
        from fastmcp.exceptions import ToolError as FastToolError  # noqa: PLC0415 - as above

        return FastToolError(text)


@dataclass(frozen=True, slots=True)
class _LowLevel:
    """The low-level `Server`: it has no tools of its own but those that its handlers list."""

    server: Server[Any]

    def __post_init__(self) -> None:
        if self.server.get_request_handler("tools/list") is None:
            handlers = (
                ("tools/list", types.PaginatedRequestParams, list_none),
                ("tools/call", types.CallToolRequestParams, know_none),
            )
            for method, params, handler in handlers:
                self.server.add_request_handler(method, params, handler)
        entry = self.server.get_request_handler("tools/list")
        if entry is not None:
            listed = read_raw(entry.handler)
            self.server.add_request_handler("tools/list", entry.params_type, listed)

    @property
    def lowlevel(self) -> Server[Any]:
        """See `Framework.lowlevel`."""
        return self.server

    @property
    def entrance(self) -> Any:
        """See `Framework.entrance`; here the author's own handler enters tools."""
        return None

    @property
    def knows_callers(self) -> bool | None:
        """See `Framework.knows_callers`."""
        return None

    async def entries(self) -> list[dict[str, Any]]:
        """See `Framework.entries`."""
        return []

    def remove(self, name: str) -> None:
        """See `Framework.remove`."""

    def add(self, function: Callable[..., Any], name: str, description: str | None) -> Shape:
        """See `Framework.add`."""
        made = func_metadata(function)
        schema = made.arg_model.model_json_schema(by_alias=True)

        async def execute(_: Context, arguments: Mapping[str, Any]) -> "Answer":
            try:
                with surviving():
                    given = made.validate_arguments(dict(arguments))
            except ValidationError as error:
                raise ToolError(f"{name} does not take these arguments: {error}") from error
            value = await function(**given)
            try:
                result = _wire(made.convert_result(value))
            except Exception as error:  # whatever a type's own code raises
                raise ShapeError("the tool returned what its type does not say") from error
            return Made(agreed(result, value))

        return Shape(description or "", schema, made.output_schema, execute)

    async def function_of(self, name: str) -> Callable[..., Any] | None:
        """See `Framework.function_of`."""
        del name

    def told(self, error: Exception, text: str) -> Exception:
        """See `Framework.told`; here the author's own handler gets it, or the guard."""
        del text
        return error


def framework_of(server: object) -> Framework:
    """Which kind of server this is. Raises `UsageError` for none of them."""
    if isinstance(server, MCPServer):
        return _McpServer(cast("MCPServer[Any]", server))
    if any(kind.__module__.startswith("fastmcp.") for kind in type(server).__mro__):
        return _FastMcp(server)
    if isinstance(server, Server):
        return _LowLevel(cast("Server[Any]", server))
    what = f"a {type(server).__name__} is no server that tools can be bound to"
    raise UsageError(what, fix="Give an MCPServer, a low-level Server, or a FastMCP.")


def _wire(model: BaseModel) -> dict[str, Any]:
    return model.model_dump(mode="json", by_alias=True, exclude_none=True)


def _mask(server: Any) -> None:
    """Keep what tools raise by mistake inside, here and in all servers that are mounted.

    It may hold anything, and this framework would pass it on.
    """
    server._mask_error_details = True  # noqa: SLF001 - it takes this only when it is made
    for mounted in mounted_in(server):
        if not mounted._mask_error_details:  # noqa: SLF001 - as above
            _mask(mounted)


def _taken(name: str, server: str) -> UsageError:
    what = f"two tools are called {name!r}"
    return UsageError(what, where=server, fix="Give each a name of its own.")
