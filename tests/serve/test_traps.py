"""The traps of servers, each sprung on a naive server first: there it bites, here it does not."""

import json
from typing import Any

import mcp_types as types
import pytest
from fastmcp import FastMCP
from fastmcp.server.middleware.response_limiting import ResponseLimitingMiddleware
from mcp import Client
from mcp.server import MCPServer
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from pydantic import TypeAdapter
from tests.connect.serving import RawClient, raw_client, serve_app
from tests.serve.serving import (
    ERAS,
    KINDS,
    YES,
    Studio,
    app_of,
    inside,
    offer,
    outcomes,
    text,
)

import sayso
from sayso.connect.envelope import Envelope
from sayso.serve import Tools

pytestmark = pytest.mark.anyio

MODERN = "2026-07-28"
ELICITS = Envelope(MODERN, {"name": "mallory", "version": "1"}, {"elicitation": {"form": {}}})
DELETE = {"name": "customer_delete", "arguments": {"customer_id": 2}}


def text_of(answer: dict[str, Any]) -> str:
    return "\n".join(one.get("text", "") for one in answer.get("content", []))


async def ask(raw: RawClient, params: dict[str, Any]) -> dict[str, Any]:
    """A call as a hostile client of 2026-07-28 makes it: what it brings along is its own."""
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": ELICITS.params(params)}
    response = await raw.post(json.dumps(message), **ELICITS.headers("tools/call", params))
    if response.headers["content-type"].startswith("application/json"):
        told = response.json()
    else:
        events = [one for one in response.text.splitlines() if one.startswith("data: {")]
        told = json.loads(events[-1].removeprefix("data: "))
    return told.get("result") or told["error"]


def accepted(question: dict[str, Any]) -> dict[str, Any]:
    """The client's answer: that its person agreed, and the state."""
    said = {
        name: {"action": "accept", "content": {"approve": True}}
        for name in question["inputRequests"]
    }
    return {"inputResponses": said, "requestState": question["requestState"]}


def naive_confirming(done: list[str]) -> Server[Any]:
    """Asks by an input request, and runs once there is an answer; as a first attempt does."""

    async def call(_: Any, params: types.CallToolRequestParams) -> Any:
        answers: Any = getattr(params, "input_responses", None) or {}
        if "approve" in answers:
            done.append("delete")
            return types.CallToolResult(content=[types.TextContent(type="text", text="deleted")])
        schema = {"type": "object", "properties": {"approve": {"type": "boolean"}}}
        asked = {"mode": "form", "message": "Sure?", "requestedSchema": schema}
        return {
            "resultType": "input_required",
            "inputRequests": {"approve": {"method": "elicitation/create", "params": asked}},
            "requestState": "state",
        }

    return Server("naive", on_call_tool=call, on_list_tools=_no_tools)


async def _no_tools(_: Any, __: Any) -> types.ListToolsResult:
    schema = {"type": "object"}
    return types.ListToolsResult(tools=[types.Tool(name="customer_delete", input_schema=schema)])


# --- 1: answers to questions that a client makes up, or brings back twice --------------------


@pytest.mark.parametrize("kind", [*KINDS, "naive"])
async def test_1_an_answer_to_a_question_that_was_never_asked_runs_nothing(kind: str) -> None:
    done: list[str] = []
    server: Any = naive_confirming(done)
    names = ["approve"]
    if kind != "naive":
        offered = offer(kind)
        server, done, names = offered.server, offered.studio.done, ["io.sayso/approval", "approve"]
    answer = {"action": "accept", "content": {"approve": True}}
    async with (
        serve_app(app_of(server)) as base,
        raw_client(f"{base}/mcp", MODERN) as raw,
    ):
        forged = {"inputResponses": dict.fromkeys(names, answer)}
        for state in ({}, {"requestState": "state"}, {"requestState": ""}):
            await ask(raw, {**DELETE, **forged, **state})
    assert bool(done) is (kind == "naive")


@pytest.mark.parametrize("kind", [*KINDS, "naive"])
async def test_1_an_answer_that_is_replayed_runs_once(kind: str) -> None:
    done: list[str] = []
    server: Any = naive_confirming(done)
    if kind != "naive":
        offered = offer(kind)
        server, done = offered.server, offered.studio.done
    async with (
        serve_app(app_of(server)) as base,
        raw_client(f"{base}/mcp", MODERN) as raw,
    ):
        question = await ask(raw, DELETE)
        assert question["resultType"] == "input_required"
        back = accepted(question)
        for _ in range(3):
            await ask(raw, {**DELETE, **back})
        moved = {"name": "customer_delete", "arguments": {"customer_id": 3}}
        await ask(raw, {**moved, **back})
    assert len(done) == (4 if kind == "naive" else 1)


# --- 2: retries ------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [*KINDS, "naive"])
async def test_2_what_destroys_is_not_tried_again(kind: str) -> None:
    tried: list[int] = []

    def invoice_send(invoice_id: int) -> str:
        tried.append(invoice_id)
        raise ConnectionError

    if kind == "naive":
        from fastmcp.server.middleware.error_handling import RetryMiddleware

        server: Any = FastMCP("naive", middleware=[RetryMiddleware(max_retries=2, base_delay=0.01)])
        server.tool(invoice_send)
        async with Client(inside(server)) as client:
            await client.call_tool("invoice_send", {"invoice_id": 7})
        assert len(tried) == 3
        return
    offered = offer(kind, declare=lambda tools, _: tools.tool(sayso.SEND)(invoice_send) and None)
    async with offered.client(answer=YES) as caller:
        result = await caller.call("invoice_send", {"invoice_id": 7})
    assert result.is_error
    assert tried == [7]


# --- 3: errors -------------------------------------------------------------------------------


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("kind", [*KINDS, "naive"])
async def test_3_a_tool_that_fails_is_a_result_and_says_nothing_of_its_inside(
    kind: str, era: str
) -> None:
    def invoice_get(invoice_id: int) -> str:
        raise RuntimeError(f"postgres://root:hunter2@db/{invoice_id}")

    if kind == "naive":
        naive = FastMCP("naive")
        naive.tool(invoice_get)
        async with Client(inside(naive), mode=era) as client:
            assert "hunter2" in text(await client.call_tool("invoice_get", {"invoice_id": 7}))
        return

    def declare(tools: Tools, _: Studio) -> None:
        tools.tool(sayso.READ_ONLY)(invoice_get)
        tools.add(
            name="raw",
            intent=sayso.READ_ONLY,
            execute=lambda _ctx, _given: invoice_get(7),
        )

    async with offer(kind, declare=declare).client(era) as caller:
        for name, given in (("invoice_get", {"invoice_id": 7}), ("raw", {})):
            result = await caller.call(name, given)
            assert result.is_error
            assert "hunter2" not in result.model_dump_json()
            assert "incident" in text(result)


# --- 4 and 7: what is cut or stripped, in both blocks -----------------------------------------


def long_list() -> list[dict[str, int]]:
    return [{"number": one} for one in range(20_000)]


@pytest.mark.parametrize("kind", [*KINDS, "naive"])
async def test_4_what_is_too_long_is_cut_as_json_and_keeps_its_structure(kind: str) -> None:
    if kind == "naive":
        naive = FastMCP("naive", middleware=[ResponseLimitingMiddleware(max_size=25_000)])
        naive.tool(long_list)
        async with Client(inside(naive)) as client:
            result = await client.call_tool("long_list", {})
        assert result.structured_content is None
        with pytest.raises(ValueError, match=r"."):
            json.loads(text(result))
        return
    offered = offer(kind, declare=lambda tools, _: tools.tool(sayso.READ_ONLY)(long_list) and None)
    async with offered.client() as caller:
        (listed,) = (await caller.client.list_tools()).tools
        result = await caller.call("long_list")
    assert listed.output_schema is not None
    assert result.structured_content is not None
    kept = result.structured_content["result"]
    assert 0 < len(kept) < 20_000
    first = result.content[0]
    assert isinstance(first, types.TextContent)
    assert json.loads(first.text) == result.structured_content
    assert f"Showing the first {len(kept)} of 20000" in text(result)


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("kind", [*KINDS, "naive"])
async def test_7_what_the_schema_does_not_name_is_in_neither_block(kind: str, era: str) -> None:
    from typing_extensions import TypedDict

    class Customer(TypedDict):
        id: int

    def customer_get() -> Customer:
        return {"id": 1, "iban": "DE-SECRET"}  # type: ignore[typeddict-unknown-key]

    if kind == "naive":
        naive = MCPServer("naive")
        naive.add_tool(customer_get)
        async with Client(naive, mode=era) as client:
            assert "DE-SECRET" in text(await client.call_tool("customer_get", {}))
        return

    def declare(tools: Tools, _: Studio) -> None:
        tools.tool(sayso.READ_ONLY)(customer_get)
        schema = {"type": "object", "properties": {"id": {"type": "integer"}}}
        tools.add(
            name="raw",
            intent=sayso.READ_ONLY,
            output_schema={**schema, "additionalProperties": False},
            execute=lambda ctx, _: ctx.json({"id": 1, "iban": "DE-SECRET"}),
        )

    async with offer(kind, declare=declare).client(era) as caller:
        for name in ("customer_get", "raw"):
            result = await caller.call(name)
            assert result.structured_content == {"id": 1}
            assert "DE-SECRET" not in result.model_dump_json()


# --- 5 and 6: who may, and what one who may not can learn -------------------------------------


@pytest.mark.parametrize("kind", [*KINDS, "naive"])
async def test_5_on_stdio_a_scope_is_held_by_nobody_unless_the_author_says_by_whom(
    kind: str,
) -> None:
    if kind == "naive":
        from fastmcp.server import context
        from fastmcp.server.auth import require_scopes

        naive = FastMCP("naive")
        naive.tool(lambda: "secret", name="secret_get", auth=require_scopes("secrets"))
        transport = vars(context)["_current_transport"]
        token = transport.set("stdio")
        try:
            async with Client(inside(naive)) as client:
                assert [one.name for one in (await client.list_tools()).tools] == ["secret_get"]
        finally:
            transport.reset(token)
        return
    async with offer(kind, principal=None).client() as caller:
        assert await caller.names() == []
    async with offer(kind).client() as caller:
        assert len(await caller.names()) == 4


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("kind", [*KINDS, "naive"])
async def test_6_a_tool_that_is_hidden_is_unknown_in_the_same_words(kind: str, era: str) -> None:
    if kind == "naive":
        naive = MCPServer("naive")
        ran: list[str] = []
        naive.add_tool(lambda: ran.append("ran"), name="hidden")

        async def hide(ctx: Any, call_next: Any) -> Any:
            result = await call_next(ctx)
            return {**result, "tools": []} if ctx.method == "tools/list" else result

        vars(naive)["_lowlevel_server"].middleware.append(hide)
        async with Client(naive, mode=era) as client:
            assert (await client.list_tools()).tools == []
            await client.call_tool("hidden", {})
        assert ran == ["ran"]
        return
    offered = offer(kind, principal=sayso.Principal("bea", scopes=frozenset({"customers.read"})))
    async with offered.client(era, YES) as caller:
        assert await caller.names() == ["customer_get", "customer_list"]
        said: list[str] = []
        for name in ("customer_delete", "customer_write", "never_there_at_all"):
            with pytest.raises(MCPError) as caught:
                await caller.call(name, {"customer_id": 1})
            said.append(f"{caught.value.error.code} {caught.value}".replace(name, "NAME"))
    assert len(set(said)) == 1
    assert offered.studio.done == []
    assert await outcomes(offered.url) == ["unknown_tool"] * 3


# --- 12, 13: the form of hints on the wire ----------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
async def test_12_hints_go_out_in_the_specifications_case(kind: str) -> None:
    async with offer(kind).client() as caller:
        request = types.ListToolsRequest(method="tools/list")
        listed = await caller.client.session.send_request(request, TypeAdapter(dict[str, Any]))
    for tool in listed["tools"]:
        assert set(tool["annotations"]) == {
            "title",
            "readOnlyHint",
            "destructiveHint",
            "idempotentHint",
            "openWorldHint",
        }
        assert all(isinstance(tool["annotations"][one], bool | str) for one in tool["annotations"])
    naive = types.ToolAnnotations(read_only_hint=True).model_dump(exclude_none=True)
    assert "readOnlyHint" not in naive


async def test_13_a_hint_of_another_type_promises_nothing() -> None:
    async def listed(_: Any, __: Any) -> Any:
        entry = {"name": "wipe", "inputSchema": {"type": "object"}}
        tools = [{**entry, "annotations": {"readOnlyHint": "true"}}]
        return {"tools": tools, "resultType": "complete", "ttlMs": 0, "cacheScope": "public"}

    def server() -> Server[Any]:
        return Server("raw", on_list_tools=listed, on_call_tool=_never)

    async with Client(server()) as client:
        (coerced,) = (await client.list_tools()).tools
        assert coerced.annotations is not None
        assert coerced.annotations.read_only_hint is True
    offered = offer("Server", server=server(), declare=lambda _tools, _studio: None)
    async with offered.client() as caller:
        result = await caller.call("wipe")
    assert result.is_error
    assert "no person can be asked" in text(result)


async def _never(_: Any, __: Any) -> Any:
    raise AssertionError


# --- 18: a list before every call -------------------------------------------------------------


@pytest.mark.parametrize("is_bound", [True, False])
async def test_18_a_call_over_http_does_not_list_all_tools_before(*, is_bound: bool) -> None:
    lists: list[int] = []

    async def listed(_: Any, __: Any) -> types.ListToolsResult:
        lists.append(1)
        read = types.ToolAnnotations(read_only_hint=True)
        schema = {"type": "object", "properties": {"a": {"type": "integer"}}}
        tool = types.Tool(name="look", input_schema=schema, annotations=read)
        return types.ListToolsResult(tools=[tool])

    async def call(_: Any, __: Any) -> types.CallToolResult:
        return types.CallToolResult(content=[types.TextContent(type="text", text="seen")])

    server = Server[Any]("lists", on_list_tools=listed, on_call_tool=call)
    if is_bound:
        offer("Server", server=server, declare=lambda _tools, _studio: None)
    async with (
        serve_app(app_of(server)) as base,
        raw_client(f"{base}/mcp", MODERN) as raw,
    ):
        for _ in range(4):
            assert text_of(await raw.call("look", {"a": 1})) == "seen"
    assert len(lists) == (1 if is_bound else 4)
