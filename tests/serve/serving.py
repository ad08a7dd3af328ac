"""One definition of tools on each framework, offered over each transport, in both eras."""

import json
import sys
import tempfile
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
from mcp import Client, StdioServerParameters
from mcp.server import MCPServer
from mcp.server.lowlevel import Server
from pydantic import BaseModel
from tests.connect.serving import ENVIRONMENT, serve_app
from tests.warm import Warm

import sayso
from sayso.audit import merged
from sayso.audit.verifier import verify
from sayso.keys import load_keys
from sayso.serve import Tools
from sayso.store import open_store, store_path

ERAS = ["legacy", "2026-07-28"]
KINDS = ["MCPServer", "Server", "FastMCP"]
CALLER = sayso.Principal("amy", scopes=frozenset({"customers.read", "customers.write"}))

YES = types.ElicitResult(action="accept", content={"approve": True})
NOT = types.ElicitResult(action="accept", content={"approve": False})
NO = types.ElicitResult(action="decline")
AWAY = types.ElicitResult(action="cancel")
ANSWERED_SECONDS = 15.0
"""How long a call waits for a person who answers: long, since a busy machine is slow to ask."""


class Customer(BaseModel):
    """One customer."""

    id: int
    name: str


class Open(Customer):
    """A customer with what is nobody's business."""

    iban: str = "DE-SECRET"


def make(kind: str, **more: Any) -> Any:
    """An empty server of one framework."""
    if kind == "Server":
        return Server("studio", **more)
    if kind == "MCPServer":
        return MCPServer("studio", **more)
    # To import it takes longer than all else: servers over stdio are started often.
    from fastmcp import FastMCP

    return FastMCP("studio", **more)


def inside(server: Any) -> Any:
    """Return the server that the SDK's client connects to in the same process."""
    return getattr(server, "_mcp_server", server)


def app_of(server: Any) -> Any:
    """Serve it over HTTP."""
    return server.http_app() if hasattr(server, "http_app") else server.streamable_http_app()


@dataclass
class Studio:
    """The data of the tools, and a log of their work."""

    customers: dict[int, str] = field(
        default_factory=lambda: {one: f"customer {one}" for one in range(1, 6)}
    )
    done: list[str] = field(default_factory=list[str])


def declare_studio(tools: Tools, studio: Studio) -> None:
    """The tools that are the same on all frameworks: by types, as data, and in a group."""
    reading = tools.group(scopes={"customers.read"}, category="customers")
    writing = tools.group(scopes={"customers.write"}, category="customers")

    @reading.tool(sayso.READ_ONLY)
    def customer_get(customer_id: int) -> Customer:
        """One customer."""
        return Open(id=customer_id, name=studio.customers[customer_id])

    @reading.tool(sayso.READ_ONLY, tags={"lists"})
    async def customer_list(cursor: str | None = None) -> sayso.Page[Customer]:
        """A page of customers."""
        start = int(cursor or 0)
        ids = sorted(studio.customers)
        found = [Open(id=one, name=studio.customers[one]) for one in ids[start : start + 2]]
        end = start + len(found)
        return sayso.Page(list(found), str(end) if end < len(ids) else None, len(ids))

    def plan(customer_id: int) -> list[str]:
        return [f"delete {studio.customers[customer_id]}"]

    @writing.tool(sayso.DELETE, confirm="Delete customer {customer_id} for good?", plan=plan)
    def customer_delete(customer_id: int) -> str:
        """Delete a customer."""
        assert sayso.context().plan is not None
        studio.done.append(f"delete {customer_id}")
        return f"deleted {studio.customers.pop(customer_id)}"

    def write(ctx: sayso.Context, given: Any) -> Any:
        studio.customers[given["id"]] = given["name"]
        studio.done.append(f"write {given['id']}")
        return ctx.json({"id": given["id"], "name": given["name"], "iban": "DE-SECRET"})

    writing.add(
        name="customer_write",
        intent=sayso.UPSERT,
        description="Create or change a customer.",
        input_schema={
            "type": "object",
            "properties": {"id": {"type": "integer"}, "name": {"type": "string"}},
            "required": ["id", "name"],
        },
        output_schema=Customer.model_json_schema() | {"additionalProperties": False},
        execute=write,
    )


@dataclass
class Offered:
    """A bound server of one kind, its tools and what they work on."""

    server: Any
    tools: Tools
    studio: Studio
    url: str

    @asynccontextmanager
    async def client(
        self, era: str = "2026-07-28", answer: types.ElicitResult | None = None, **more: Any
    ) -> AsyncGenerator["Caller"]:
        """A client in the same process, and a person at it if there is an `answer`."""
        caller = Caller(answer=answer)
        asks: dict[str, Any] = {"elicitation_callback": caller.person} if answer is not None else {}
        async with Client(inside(self.server), mode=era, **asks, **more) as client:
            caller.client = client
            yield caller


@dataclass
class Caller:
    """A client, and what its person was asked."""

    client: Any = None
    answer: types.ElicitResult | None = None
    asked: list[str] = field(default_factory=list[str])

    async def person(
        self,
        context: Any,  # noqa: ARG002 - as the SDK calls it
        params: types.ElicitRequestParams,
    ) -> types.ElicitResult:
        self.asked.append(params.message)
        assert self.answer is not None
        return self.answer

    async def call(self, name: str, arguments: Any = None, **more: Any) -> types.CallToolResult:
        """The result of a call; bounded, since a server may forget to answer."""
        with anyio.fail_after(60):
            return await self.client.call_tool(name, arguments or {}, **more)

    async def names(self) -> list[str]:
        """The tools that are listed."""
        return sorted(one.name for one in (await self.client.list_tools()).tools)


def offer(
    kind: str,
    where: Path | None = None,
    declare: Callable[[Tools, Studio], None] = declare_studio,
    server: Any = None,
    **more: Any,
) -> Offered:
    """A bound server of one kind with some tools; the studio's if none are given."""
    folder = where or Path(tempfile.mkdtemp())
    url = f"sqlite:{folder / 'sayso.db'}"
    server = make(kind) if server is None else server
    options: dict[str, Any] = {"principal": CALLER, "patience": 0.3, **more}
    tools = sayso.bind(server, store=url, **options)
    offered = Offered(server, tools, Studio(), url)
    declare(tools, offered.studio)
    return offered


@asynccontextmanager
async def reached(
    kind: str,
    era: str,
    transport: str,
    where: Path,
    *,
    python: Warm,
    answer: types.ElicitResult | None = None,
) -> AsyncGenerator[Caller]:
    """The studio's tools over one transport, in one era."""
    caller = Caller(answer=answer)
    asks: dict[str, Any] = {"elicitation_callback": caller.person} if answer is not None else {}
    async with (
        _target(kind, transport, where, python) as target,
        Client(target, mode=era, **asks) as client,
    ):
        caller.client = client
        yield caller


def over_stdio(python: Warm, module: str, kind: str, where: Path) -> StdioServerParameters:
    """Return the command that starts a server of one kind from a test module."""
    first, *rest = python.words("-m", module, kind, str(where))
    env = ENVIRONMENT | {"PYTHONPATH": f"{ENVIRONMENT['PYTHONPATH']}:{Path.cwd()}"}
    return StdioServerParameters(command=first, args=rest, env=env)


@asynccontextmanager
async def _target(kind: str, transport: str, where: Path, python: Warm) -> AsyncGenerator[Any]:
    if transport == "stdio":
        yield over_stdio(python, "tests.serve.serving", kind, where)
        return
    offered = offer(kind, where, patience=ANSWERED_SECONDS)
    if transport == "memory":
        yield inside(offered.server)
        return
    async with serve_app(app_of(offered.server)) as base:
        yield f"{base}/mcp"


def text(result: types.CallToolResult) -> str:
    """The texts of a result."""
    return "\n".join(one.text for one in result.content if isinstance(one, types.TextContent))


async def lines(url: str) -> list[dict[str, Any]]:
    """The record's lines about calls, oldest first; fails where the log does not verify."""
    store = open_store(url)
    try:
        report = await verify(store.records, load_keys(store_path(url)))
        assert report.problems == []
        rows = [merged(row) for row in reversed(await store.records.newest())]
        return [{"event": row.event, **json.loads(row.body)} for row in rows if row.call]
    finally:
        await store.close()


async def outcomes(url: str) -> list[str]:
    """Return the recorded outcomes of calls, oldest first."""
    return [one["outcome"] for one in await lines(url) if "outcome" in one]


def main() -> None:
    """Serve on stdin and stdout."""
    offered = offer(sys.argv[1], Path(sys.argv[2]), patience=ANSWERED_SECONDS)
    if sys.argv[1] != "Server":
        offered.server.run("stdio")
        return
    from mcp.server.stdio import stdio_server

    async def run() -> None:
        async with stdio_server() as (read, write):
            made = offered.server.create_initialization_options()
            await offered.server.run(read, write, made)

    anyio.run(run)


if __name__ == "__main__":
    main()
