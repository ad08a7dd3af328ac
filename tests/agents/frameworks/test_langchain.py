"""Agents of LangChain and graphs of LangGraph behind the guard, with real servers."""

import asyncio
import json
from collections.abc import AsyncGenerator, Callable, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

import anyio
import pytest
from langchain.agents import create_agent
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode
from langgraph.types import Command
from mcp import Client
from mcp.server import MCPServer
from mcp_types import ToolAnnotations
from tests.agents.serving import lines

import avow
from avow.agents.interruption import read_reply
from avow.agents.langchain import GuardMiddleware, reply, tools_of
from avow.demo.customers import customer_numbers
from avow.demo.data import Database
from avow.demo.server import build_server
from avow.errors import UsageError

pytestmark = pytest.mark.anyio

THREAD: Any = {"configurable": {"thread_id": "1"}}
GONE = "customer_delete"
GET = "customers_get"


@pytest.fixture(autouse=True)
def _untraced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LANGSMITH_TRACING", "false")


class Scripted(GenericFakeChatModel):
    """A model that says what stands in its script, and remembers what it was given."""

    offered: list[list[str]] = []
    heard: list[list[BaseMessage]] = []

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


def agent(toolset: avow.Toolset, model: Scripted, saver: Any = None, **more: Any) -> Any:
    middleware = [GuardMiddleware(toolset)]
    return create_agent(model, middleware=middleware, checkpointer=saver, **more)


def graph(tools: Iterable[Any], script: AIMessage, saver: Any) -> Any:
    """A graph with a plain `ToolNode`, which makes all calls of the script."""
    built = StateGraph(cast("Any", MessagesState))
    built.add_node("model", lambda _: {"messages": [script]})
    built.add_node("tools", ToolNode(list(tools)))
    built.add_edge(START, "model")
    built.add_edge("model", "tools")
    built.add_edge("tools", END)
    return built.compile(checkpointer=saver)


@asynccontextmanager
async def studio(database: Database, url: str, **words: Any) -> AsyncGenerator[avow.Toolset]:
    """The demo behind the guard."""
    chosen = {name: words.pop(name) for name in ("most", "always") if name in words}
    async with (
        Client(build_server(database)) as client,
        avow.wrap(client, server="crm", audit=url, **words) as crm,
    ):
        yield avow.Toolset(crm, **chosen)


async def ran(url: str) -> list[str]:
    """The tools that were run, in their order."""
    return [one["tool"] for one in await lines(url) if one["event"] == "attempt"]


async def test_tools_come_with_names_schema_and_level(database: Database, url: str) -> None:
    async with studio(database, url) as toolset:
        tools = {one.name: one for one in await tools_of(toolset)}
        get, gone = tools[GET], tools[GONE]
        assert (get.metadata or {})["avow"]["level"] == "read"
        about = (gone.metadata or {})["avow"]
        assert (about["level"], about["server"]) == ("destructive", "crm")
        assert about["hints"]["destructive"] is True
        assert get.args["customer_id"]["type"] == "integer"
        assert '"customerId"' in await get.ainvoke({"customer_id": 12})
        with pytest.raises(UsageError, match="asynchronously only"):
            get.invoke({"customer_id": 12})


async def test_reads_run_and_what_destroys_runs_once_it_is_approved(
    database: Database, url: str
) -> None:
    async def allow(_: avow.Approval) -> bool:
        return True

    model = scripted(calls((GET, {"customer_id": 12}), (GONE, {"customer_id": 12})), "Done.")
    async with studio(database, url, approver=allow) as toolset:
        end = await agent(toolset, model).ainvoke(said("delete customer 12"))
    read, gone = told(end)
    assert read.artifact["structuredContent"]["customerId"] == 12
    assert (read.status, gone.status) == ("success", "success")
    assert 12 not in customer_numbers(database)
    assert "customer_delete" in str(model.heard[0][0].content)
    assert model.offered[0] == sorted(model.offered[0])
    assert end["messages"][-1].content == "Done."


async def test_a_denied_call_comes_back_as_words_also_when_it_is_repeated(
    database: Database, url: str
) -> None:
    gone = (GONE, {"customer_id": 12})
    model = scripted(calls(gone), calls(gone, first=2), "I was not allowed to.")
    async with studio(database, url, approver=lambda _: False) as toolset:
        end = await agent(toolset, model).ainvoke(said("delete customer 12"))
    assert [one.status for one in told(end)] == ["error", "error"]
    assert all("A person denied this call" in str(one.content) for one in told(end))
    assert 12 in customer_numbers(database)
