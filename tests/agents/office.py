"""A small office of notes that an agent works on, and a model that says what a test has written."""

import time
from collections import deque
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import anyio
from mcp import Client
from mcp.server import MCPServer
from mcp_types import ImageContent, TextContent, ToolAnnotations

import sayso
from sayso.agents import ToolCall, ToolResult
from sayso.store import open_store

PHOTO = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5E"


@dataclass
class Office:
    """Notes; `log` has the begin and the end of each call that reached the server.

    A call with a number that is in `doors` goes on when its door is open.
    """

    log: list[tuple[str, str, int]] = field(default_factory=list)
    doors: dict[int, anyio.Event] = field(default_factory=dict)
    most: int = 0
    _running: int = 0

    async def work(self, name: str, number: int) -> str:
        self.log.append(("begin", name, number))
        self._running += 1
        self.most = max(self.most, self._running)
        try:
            if number in self.doors:
                await self.doors[number].wait()
        finally:
            self._running -= 1
        self.log.append(("end", name, number))
        return f"{name} {number} is done"

    @property
    def done(self) -> list[tuple[str, int]]:
        """The finished work, in order."""
        return [(name, number) for kind, name, number in self.log if kind == "end"]

    def server(self, name: str = "office") -> MCPServer[Any]:
        """A server of its own over these notes."""
        server: MCPServer[Any] = MCPServer(name, log_level="ERROR")

        async def note_read(number: int) -> str:
            """Read a note."""
            return await self.work("note_read", number)

        async def note_set(number: int) -> str:
            """Set a note."""
            return await self.work("note_set", number)

        async def note_add(number: int) -> str:
            """Add a note."""
            return await self.work("note_add", number)

        async def note_drop(number: int) -> str:
            """Drop a note."""
            return await self.work("note_drop", number)

        def note_photo() -> list[ImageContent | TextContent]:
            """Show a photo of the notes."""
            photo = ImageContent(data=PHOTO, mime_type="image/png")
            return [TextContent(text="the notes"), photo]

        for tool, read_only, destructive, idempotent in (
            (note_read, True, False, True),
            (note_photo, True, False, True),
            (note_set, False, False, True),
            (note_add, False, False, False),
            (note_drop, False, True, False),
        ):
            server.add_tool(
                tool,
                annotations=ToolAnnotations(
                    read_only_hint=read_only,
                    destructive_hint=destructive,
                    idempotent_hint=idempotent,
                    open_world_hint=False,
                ),
            )
        return server


def deny(_: sayso.Approval) -> bool:
    """Say no."""
    return False


def allow(_: sayso.Approval) -> bool:
    """Say yes."""
    return True


@asynccontextmanager
async def toolset(
    office: Office, url: str, *, wrapped: Any = None, **chosen: Any
) -> AsyncGenerator[sayso.Toolset]:
    """The office's tools for one agent; `wrapped` are other words of `sayso.wrap`."""
    options: dict[str, Any] = {"audit": url, **(wrapped or {})}
    async with (
        Client(office.server()) as client,
        sayso.wrap(client, **options) as guarded,
    ):
        yield sayso.Toolset(guarded, **chosen)


def call(name: str, number: int = 1, **other: Any) -> ToolCall:
    """A call of the office's server."""
    return ToolCall(f"{name}-{number}", name, {"number": number, **other})


@dataclass
class Script:
    """A model that says its lines in order: calls, or a text that ends the conversation.

    `heard` is the system prompt and the names of the tools that it was given each time.
    """

    lines: deque[str | Sequence[ToolCall]]
    heard: list[tuple[str, list[str]]] = field(default_factory=list)


def script(*lines: str | Sequence[ToolCall]) -> Script:
    """A model that says these lines."""
    return Script(deque(lines))


async def converse(model: Script, tools: sayso.Toolset) -> list[ToolResult]:
    """The results of all calls that the model makes until it says a text or has no more lines."""
    results: list[ToolResult] = []
    while model.lines:
        step = await tools.step()
        model.heard.append((step.prompt, list(step.tools)))
        line = model.lines.popleft()
        if isinstance(line, str):
            break
        results += await step.run(line)
    return results


async def pending(url: str) -> list[int]:
    """The numbers of the questions that still wait, as the store has them."""
    store = open_store(url)
    try:
        return [one.number for one in await store.questions.pending(now=time.time(), limit=100)]
    finally:
        await store.close()
