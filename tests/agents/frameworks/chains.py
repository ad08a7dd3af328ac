"""Agents of LangChain and graphs of LangGraph, their models, and servers for them."""

from collections.abc import AsyncGenerator, Callable, Iterable
from contextlib import asynccontextmanager
from typing import Any, cast

import anyio
from langchain.agents import create_agent
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langgraph.graph import (  # pyright: ignore[reportMissingTypeStubs] - it has none
    END,
    START,
    MessagesState,
    StateGraph,
)
from langgraph.prebuilt import ToolNode
from mcp import Client
from mcp.server import MCPServer
from mcp_types import ToolAnnotations
from tests.agents.serving import lines

import sayso
from sayso.agents.langchain import GuardMiddleware
from sayso.demo.data import Database
from sayso.demo.server import build_server

THREAD: Any = {"configurable": {"thread_id": "1"}}


class Scripted(GenericFakeChatModel):
    """A model that says what stands in its script, and remembers what it was given."""

    offered: list[list[str]]
    heard: list[list[BaseMessage]]

    def bind_tools(self, tools: Any, **_: Any) -> Any:
        self.offered.append([one.name for one in tools])
        return self

    def _generate(self, messages: Any, *words: Any, **more: Any) -> Any:
        self.heard.append(messages)
        return super()._generate(messages, *words, **more)


def scripted(*script: AIMessage | str) -> Scripted:
    return Scripted(messages=iter(script), offered=[], heard=[])


def calls(*made: tuple[str, dict[str, Any]], first: int = 1) -> AIMessage:
    return AIMessage(
        "",
        tool_calls=[
            {"name": name, "args": args, "id": f"call_{number}", "type": "tool_call"}
            for number, (name, args) in enumerate(made, first)
        ],
    )


def said(text: str) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": text}]}


def told(state: Any) -> list[ToolMessage]:
    return [one for one in state["messages"] if isinstance(one, ToolMessage)]


def asked(state: Any) -> list[Any]:
    return [one.value for one in state["__interrupt__"]]


def agent(toolset: sayso.Toolset, model: Scripted, saver: Any = None, **more: Any) -> Any:
    middleware = [GuardMiddleware(toolset)]
    return create_agent(model, middleware=middleware, checkpointer=saver, **more)


def graph(tools: Iterable[Any], script: AIMessage, saver: Any) -> Any:
    """A graph with a plain `ToolNode`, which makes all calls of the script."""
    built: Any = StateGraph(cast("Any", MessagesState))
    built.add_node("model", lambda _: {"messages": [script]})  # pyright: ignore[reportUnknownLambdaType]
    built.add_node("tools", ToolNode(list(tools)))
    built.add_edge(START, "model")
    built.add_edge("model", "tools")
    built.add_edge("tools", END)
    return built.compile(checkpointer=saver)


def hinted(**hints: bool) -> ToolAnnotations:
    return ToolAnnotations.model_validate({"openWorldHint": False, **hints})


class Shelf:
    """A server of its own, which knows what was called in which order."""

    def __init__(self) -> None:
        self.done: list[str] = []
        self.looking = 0
        self.all_look = anyio.Event()
        self.server = MCPServer("shelf", log_level="ERROR")
        self._add(self.look, readOnlyHint=True)
        self._add(self.put, destructiveHint=False)
        self._add(self.drop, destructiveHint=True)
        self._add(self.odd, readOnlyHint=True)

    def _add(self, function: Any, **hints: bool) -> None:
        self.server.add_tool(function, annotations=hinted(**hints))

    async def look(self, item: str, together: int = 1) -> str:
        """Look at an item, and wait until as many look at once."""
        self.looking += 1
        if self.looking >= together:
            self.all_look.set()
        await self.all_look.wait()
        self.done.append(f"look {item}")
        return f"{item} is there"

    async def put(self, item: str) -> str:
        """Put an item on the shelf."""
        self.done.append(f"put {item}")
        return f"put {item}"

    async def drop(self, item: str) -> str:
        """Delete an item for good."""
        self.done.append(f"drop {item}")
        return f"dropped {item}"

    async def odd(self, config: str, runtime: str, state: str, run_manager: str) -> str:
        """Show words that frameworks use for themselves."""
        return f"{config} {runtime} {state} {run_manager}"


@asynccontextmanager
async def shelved(
    shelf: Shelf,
    url: str,
    kind: type[sayso.Toolset] = sayso.Toolset,
    most: int | None = None,
    **words: Any,
) -> AsyncGenerator[sayso.Toolset]:
    """A shelf behind the guard."""
    async with (
        Client(shelf.server) as client,
        sayso.wrap(client, server="shelf", audit=url, **words) as wrapped,
    ):
        yield kind(wrapped, most=most)


@asynccontextmanager
async def studio(database: Database, url: str, **words: Any) -> AsyncGenerator[sayso.Toolset]:
    """The demo behind the guard."""
    async with (
        Client(build_server(database)) as client,
        sayso.wrap(client, server="crm", audit=url, **words) as crm,
    ):
        yield sayso.Toolset(crm)


async def allow(_: sayso.Approval) -> bool:
    return True


def deny(_: sayso.Approval) -> bool:
    return False


async def ran(url: str) -> list[str]:
    """The tools that were run, in their order."""
    return [one["tool"] for one in await lines(url) if one["event"] == "attempt"]


async def until(is_so: Callable[[], bool]) -> None:
    while not is_so():
        await anyio.sleep(0.005)
