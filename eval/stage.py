"""A real MCP server over a world, which looks at the world around each call that reaches it."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol

import anyio
import mcp_types as types
from mcp import Client
from mcp.server.lowlevel import Server

from eval.labels import Label
from eval.outcome import Ends, Made
from eval.script import Script, Step
from sayso.schema import digest


class World(Protocol):
    """Something that tools change, and that can be looked at without asking them."""

    @property
    def name(self) -> str: ...

    @property
    def tools(self) -> Sequence[Mapping[str, Any]]:
        """The tools as a server lists them, raw."""
        ...

    def reset(self, script: Script) -> None:
        """Put everything back to what it was before any call."""
        ...

    def look(self) -> str:
        """All that lasts, as text or a digest of it: equal where nothing has changed."""
        ...

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> types.CallToolResult:
        """Run a tool."""
        ...

    def ends(self, script: Script, free: Sequence[Made], made: Sequence[Made]) -> Ends:
        """How a run ended, judged by the world as it is now; `free` is the run without a gate."""
        ...


@dataclass(frozen=True, slots=True)
class Sight:
    """One call that reached the server, and whether the world was different afterwards."""

    key: tuple[str, str]
    has_changed: bool


@dataclass(slots=True)
class Stage:
    """A world behind a server that lists its tools under `labels`."""

    world: World
    labels: Mapping[str, Label]
    client: Client
    seen: list[Sight] = field(default_factory=list[Sight])

    def begin(self, script: Script) -> None:
        """Put the world back, and forget what was seen."""
        self.world.reset(script)
        self.seen.clear()

    def listed(self, step: Step) -> str:
        """The name under which a step's tool is listed here."""
        label = self.labels.get(step.tool)
        return step.tool if label is None else label.listed


@asynccontextmanager
async def open_stage(world: World, labels: Mapping[str, Label]) -> AsyncGenerator[Stage]:
    """A client of a server in the same process; what reaches the server is in `seen`."""
    seen: list[Sight] = []
    server = _serve(world, labels, seen)
    async with Client(server, raise_exceptions=False) as client:
        yield Stage(world, labels, client, seen)


def _serve(world: World, labels: Mapping[str, Label], seen: list[Sight]) -> Server[Any]:
    turn = anyio.Lock()
    behind = {label.listed: name for name, label in labels.items()}
    entries = [labels[str(tool["name"])].entry(tool) for tool in world.tools]
    visible = [entry for entry in entries if entry is not None]

    async def list_tools(_ctx: Any, _params: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[types.Tool.model_validate(one) for one in visible])

    async def call_tool(_ctx: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        arguments = dict(params.arguments or {})
        tool = behind.get(params.name)
        if tool is None:
            return failure(f"Unknown tool: {params.name}")
        # One at a time, so that what changed is this call's.
        async with turn:
            before = world.look()
            result = await world.call(tool, arguments)
            seen.append(Sight((tool, digest(arguments)), world.look() != before))
        return result

    return Server(world.name, version="1", on_list_tools=list_tools, on_call_tool=call_tool)


def success(text: str) -> types.CallToolResult:
    """A result of one text."""
    return types.CallToolResult(content=[types.TextContent(text=text)])


def failure(text: str) -> types.CallToolResult:
    """A result that says what went wrong."""
    return types.CallToolResult(content=[types.TextContent(text=text)], is_error=True)
