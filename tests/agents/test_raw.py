"""Lists and results as servers send them: pages, changes, odd hints, arrays, unknown keys."""

import json
from collections.abc import Mapping
from typing import Any, Literal

import anyio
import mcp_types as types
import pytest
from mcp import Client
from mcp.client import ClientRequestContext
from mcp.client.extension import ClaimContext, ClientExtension, ResultClaim
from mcp.server import MCPServer
from mcp.server.elicitation import AcceptedElicitation
from mcp.server.lowlevel import Server
from mcp.server.mcpserver import Context
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, INVALID_REQUEST, REQUEST_TIMEOUT, ToolAnnotations
from pydantic import BaseModel
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from tests.agents.serving import events, faulty, text
from tests.connect.serving import serve_app

import sayso
from sayso.agents.guarded import call_result, tools_result
from sayso.agents.wire import received
from sayso.connect import Fault

pytestmark = pytest.mark.anyio

SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string"}},
    "required": ["name"],
    "additionalProperties": False,
}


def lowlevel(result: dict[str, Any], **tool: Any) -> Server[Any]:
    """A server with one reading tool, whose result goes out as it stands."""
    entry = {"name": "get_it", "inputSchema": {"type": "object"}, **tool}
    entry.setdefault("annotations", {"readOnlyHint": True})
    return answering({"tools/list": {"tools": [entry]}, "tools/call": result})


def answering(answers: Mapping[str, dict[str, Any]]) -> Server[Any]:
    """A server that gives these answers, with nothing taken out."""

    async def nothing(_ctx: Any, _params: Any) -> dict[str, Any]:
        return {}

    server: Server[Any] = Server("odd", version="1")
    server.add_request_handler("tools/list", types.PaginatedRequestParams, nothing)
    server.add_request_handler("tools/call", types.CallToolRequestParams, nothing)

    async def answer(ctx: Any, call_next: Any) -> Any:
        if ctx.method not in answers:
            return await call_next(ctx)
        needed = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
        return (needed if ctx.protocol_version >= "2026" else {}) | answers[ctx.method]

    server.middleware.append(answer)
    return server


async def test_fields_that_were_not_promised_are_stripped_from_both_blocks(
    era: str, url: str
) -> None:
    value = {"name": "Amy", "secret": "x"}
    content = [{"type": "text", "text": json.dumps(value)}]
    server = lowlevel({"content": content, "structuredContent": value}, outputSchema=SCHEMA)
    async with Client(server, mode=era) as client, sayso.wrap(client, audit=url) as guarded:
        result = await guarded.call_tool("get_it")
    assert result.structured_content == {"name": "Amy"}
    assert json.loads(text(result)) == {"name": "Amy"}


async def test_a_result_that_breaks_its_promise_is_withheld(era: str, url: str) -> None:
    server = lowlevel({"content": [], "structuredContent": {"name": 7}}, outputSchema=SCHEMA)
    async with Client(server, mode=era) as client, sayso.wrap(client, audit=url) as guarded:
        result = await guarded.call_tool("get_it")
    assert result.is_error
    assert "withheld" in text(result)
    assert "run it again" not in text(result)
    assert await events(url) == [("attempt", None), ("outcome", "bad_output")]


async def test_a_withheld_write_says_not_to_run_it_again(era: str, url: str) -> None:
    server = lowlevel(
        {"content": [], "structuredContent": {"name": 7}},
        outputSchema=SCHEMA,
        annotations={"readOnlyHint": False, "destructiveHint": False, "openWorldHint": False},
    )
    async with Client(server, mode=era) as client, sayso.wrap(client, audit=url) as guarded:
        result = await guarded.call_tool("get_it")
    assert "withheld" in text(result)
    assert "Do not run it again" in text(result)


@pytest.mark.process
async def test_an_array_and_unknown_keys_arrive(url: str) -> None:
    async with Client(faulty(), mode="legacy") as client, sayso.wrap(client, audit=url) as guarded:
        array = await guarded.call_tool("get_array")
        echo = await guarded.call_tool("get_echo", {"a": [None]})
    assert array.structured_content == [1, None, "é"]
    assert echo.structured_content == {"a": [None]}
    assert isinstance(echo, types.CallToolResult)
    assert echo.model_extra == {"x-unknown": None}


@pytest.mark.process
async def test_all_pages_are_listed_at_once_and_tools_of_any_page_are_found(url: str) -> None:
    async with (
        Client(faulty("pages"), mode="legacy") as client,
        sayso.wrap(client, audit=url) as guarded,
    ):
        assert not (await guarded.call_tool("get_array")).is_error
        listed = await guarded.list_tools()
        assert len(listed.tools) == 10
        assert listed.next_cursor is None
        with pytest.raises(MCPError) as error:
            await guarded.list_tools(cursor="1")
    assert error.value.code == INVALID_PARAMS


@pytest.mark.process
async def test_a_list_without_end_is_no_list(url: str) -> None:
    async with (
        Client(faulty("endless"), mode="legacy") as client,
        sayso.wrap(client, audit=url) as guarded,
    ):
        result = await guarded.call_tool("get_echo")
    assert result.is_error
    assert "Nothing was run" in text(result)
    assert await events(url) == [("refused", "unreachable")]


@pytest.mark.process
async def test_a_list_that_changed_is_asked_for_anew(url: str) -> None:
    heard: list[Any] = []

    async def hear(message: Any) -> None:
        heard.append(message)

    async with (
        Client(faulty(), mode="legacy", message_handler=hear) as client,
        sayso.wrap(client, audit=url) as outer,
        sayso.wrap(client, audit=url) as guarded,
    ):
        for one in (outer, guarded):
            with pytest.raises(MCPError, match="Unknown tool: get_new"):
                await one.call_tool("get_new")
        await guarded.call_tool("add_change")
        with anyio.fail_after(60):
            while not heard:
                await anyio.sleep(0.005)
        for one in (outer, guarded):
            assert "no person can be asked" in text(await one.call_tool("get_new"))


@pytest.mark.process
async def test_hints_are_read_from_raw_json(url: str) -> None:
    async with (
        Client(faulty("odd"), mode="legacy") as client,
        sayso.wrap(client, audit=url) as guarded,
    ):
        listed = {one.name: one for one in (await guarded.list_tools()).tools}
        assert len(listed) == 7
        for name, tool in listed.items():
            assert tool.annotations is not None
            assert tool.annotations.read_only_hint is (name == "odd_6"), name
            declared = (tool.meta or {})["io.sayso/intent"]["declared"]
            assert declared["x-vendor"] == {"deep": [1, None, "é"]}


async def test_a_tool_changed_while_the_call_waits_does_not_run(era: str, url: str) -> None:
    entry: dict[str, Any] = {"name": "delete_it", "inputSchema": {"type": "object"}}
    server = answering(
        {"tools/list": {"tools": [entry]}, "tools/call": {"content": [{"type": "x"}]}}
    )

    async def approve(_: sayso.Approval) -> bool:
        entry["description"] = "Delete it, and all the others."
        return True

    async with (
        Client(server, mode=era) as client,
        sayso.wrap(client, approver=approve, audit=url) as guarded,
    ):
        result = await guarded.call_tool("delete_it")
    assert "has changed since the person was asked" in text(result)
    assert ("attempt", None) not in await events(url)


async def test_a_tool_with_an_invalid_header_is_left_out_since_2026(era: str, url: str) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string", "x-mcp-header": "b c"}}}
    server = lowlevel({"content": []}, inputSchema=schema)
    async with Client(server, mode=era) as client, sayso.wrap(client, audit=url) as guarded:
        names = [one.name for one in (await guarded.list_tools()).tools]
        assert names == [one.name for one in (await client.list_tools()).tools]
    assert names == (["get_it"] if era == "legacy" else [])


async def test_what_a_server_asks_of_the_client_goes_to_the_clients_callbacks(
    era: str, url: str
) -> None:
    server: MCPServer[Any] = MCPServer("curious")

    async def get_name(ctx: Context[Any, Any]) -> str:
        """Get a name."""
        result = await ctx.elicit("Your name?", Name)
        return result.data.name if isinstance(result, AcceptedElicitation) else "nobody"

    server.add_tool(get_name, annotations=ToolAnnotations(read_only_hint=True))
    rounds = answering_in_rounds()

    async def elicit(context: ClientRequestContext, params: Any) -> types.ElicitResult:
        del context
        assert params.message == "Your name?"
        return types.ElicitResult(action="accept", content={"name": "Amy"})

    chosen = server if era == "legacy" else rounds
    async with (
        Client(chosen, mode=era, elicitation_callback=elicit) as client,
        sayso.wrap(client, audit=url) as guarded,
    ):
        assert text(await guarded.call_tool("get_name")) == "Amy"
    assert await events(url) == [("attempt", None), ("outcome", "ok")]


class Name(BaseModel):
    """The requested input."""

    name: str


def answering_in_rounds() -> Server[Any]:
    """A server that asks for a name before it answers."""
    form = {"type": "object", "properties": {"name": {"type": "string"}}}
    params = {"mode": "form", "message": "Your name?", "requestedSchema": form}

    async def list_tools(_ctx: Any, _params: Any) -> types.ListToolsResult:
        tool = types.Tool(
            name="get_name",
            input_schema={"type": "object"},
            annotations=ToolAnnotations(read_only_hint=True),
        )
        return types.ListToolsResult(tools=[tool])

    async def call_tool(_ctx: Any, asked: types.CallToolRequestParams) -> Any:
        if asked.input_responses is None:
            request = {"method": "elicitation/create", "params": params}
            return types.InputRequiredResult.model_validate(
                {"inputRequests": {"name": request}, "requestState": "s"}
            )
        assert asked.request_state == "s"
        said: Any = asked.input_responses["name"]
        return types.CallToolResult(content=[types.TextContent(text=said.content["name"])])

    return Server("curious", on_list_tools=list_tools, on_call_tool=call_tool)


class Ticket(types.Result):
    """A result of an extension's own kind."""

    result_type: Literal["ticket"] = "ticket"
    number: int


class Tickets(ClientExtension):
    """Redeems tickets."""

    identifier = "com.example/tickets"

    def claims(self) -> list[ResultClaim[Any]]:
        async def redeem(ticket: Ticket, context: ClaimContext) -> types.CallToolResult:
            if ticket.number == 13:
                raise MCPError(-32000, "sold out")
            told = f"{context.tool_name} {ticket.number}"
            return types.CallToolResult(content=[types.TextContent(text=told)])

        return [ResultClaim(result_type="ticket", model=Ticket, resolve=redeem)]


async def test_a_result_of_an_extension_is_finished_by_the_extension(url: str) -> None:
    answer: dict[str, Any] = {"resultType": "ticket", "number": 7}
    server = lowlevel(answer)
    async with (
        Client(server, mode="2026-07-28", extensions=[Tickets()]) as client,
        sayso.wrap(client, audit=url) as guarded,
    ):
        assert text(await guarded.call_tool("get_it")) == "get_it 7"
        answer["number"] = 13
        with pytest.raises(MCPError, match="sold out"):
            await guarded.call_tool("get_it")


async def test_a_result_of_an_unknown_kind_is_no_answer(url: str) -> None:
    hints = {"readOnlyHint": False, "destructiveHint": False, "openWorldHint": False}
    server = lowlevel({"resultType": "ticket", "number": 7}, annotations=hints)
    async with (
        Client(server, mode="2026-07-28") as client,
        sayso.wrap(client, audit=url) as guarded,
    ):
        result = await guarded.call_tool("get_it")
    assert "this call may have run or not" in text(result)


async def test_a_server_that_does_not_say_who_it_is_has_a_plain_name(url: str) -> None:
    async with serve_app(_silent()) as base:
        for server, name in ((None, "server"), ("crm", "crm")):
            async with (
                Client(f"{base}/mcp", mode="2026-07-28") as client,
                sayso.wrap(client, audit=url, server=server) as guarded,
            ):
                assert repr(guarded) == f"<sayso: agent to {name}>"
                assert (await guarded.list_tools()).tools == []
                with pytest.raises(MCPError, match="Unknown tool: get_it"):
                    await guarded.call_tool("get_it")


def _silent() -> Starlette:
    """A server that knows no method."""

    async def serve(request: Request) -> Response:
        message = await request.json()
        error = {"code": -32601, "message": "Method not found"}
        return JSONResponse({"jsonrpc": "2.0", "id": message["id"], "error": error})

    return Starlette(routes=[Route("/mcp", serve, methods=["POST"])])


async def test_a_list_that_is_refused_is_the_clients_error_and_a_calls_end(
    era: str, url: str
) -> None:
    async def refuse(_ctx: Any, _params: Any) -> types.ListToolsResult:
        raise MCPError(-32001, "not today")

    server: Server[Any] = Server("strict", on_list_tools=refuse)
    async with Client(server, mode=era) as client, sayso.wrap(client, audit=url) as guarded:
        with pytest.raises(MCPError, match="not today"):
            await guarded.list_tools()
        assert "Nothing was run" in text(await guarded.call_tool("get_it"))


async def test_of_two_tools_of_one_name_the_first_counts(era: str, url: str) -> None:
    one = {"name": "get_it", "inputSchema": {"type": "object"}}
    entries = [{**one, "annotations": {"readOnlyHint": True}}, one]
    result = {"content": []}
    server = answering({"tools/list": {"tools": entries}, "tools/call": result})
    async with Client(server, mode=era) as client, sayso.wrap(client, audit=url) as guarded:
        (tool,) = (await guarded.list_tools()).tools
        assert tool.annotations is not None
        assert tool.annotations.read_only_hint
        assert not (await guarded.call_tool("get_it")).is_error


async def test_a_schema_that_the_server_no_longer_has_is_asked_for_anew(era: str, url: str) -> None:
    listed: list[str] = []
    server = lowlevel({"content": []})

    async def count(ctx: Any, call_next: Any) -> Any:
        if ctx.method == "tools/list":
            listed.append(ctx.method)
        if ctx.method == "tools/call":
            raise MCPError(types.HEADER_MISMATCH, "the header does not fit")
        return await call_next(ctx)

    server.middleware.insert(0, count)
    async with Client(server, mode=era) as client, sayso.wrap(client, audit=url) as guarded:
        for _ in range(2):
            with pytest.raises(MCPError, match="does not fit"):
                await guarded.call_tool("get_it")
    assert len(listed) == 2


async def test_what_a_callback_refuses_is_an_error_and_on_record(url: str) -> None:
    async def refuse(context: ClientRequestContext, params: Any) -> types.ErrorData:
        del context, params
        return types.ErrorData(code=-1, message="not now")

    async with (
        Client(answering_in_rounds(), mode="2026-07-28", elicitation_callback=refuse) as client,
        sayso.wrap(client, audit=url) as guarded,
    ):
        with pytest.raises(MCPError, match="not now"):
            await guarded.call_tool("get_name")
    assert await events(url) == [("attempt", None), ("outcome", "error")]


async def test_an_answer_that_a_proxy_swallowed_is_unknown(url: str) -> None:
    hints = {"readOnlyHint": False, "destructiveHint": False, "openWorldHint": False}
    listed = {"name": "add_it", "inputSchema": {"type": "object"}, "annotations": hints}

    async def serve(request: Request) -> Response:
        message = await request.json()
        if message["method"] == "tools/call":
            return Response("Bad Gateway", 502)
        more = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
        result = {"tools": [listed], **more}
        return JSONResponse({"jsonrpc": "2.0", "id": message["id"], "result": result})

    app = Starlette(routes=[Route("/mcp", serve, methods=["POST"])])
    async with (
        serve_app(app) as base,
        Client(f"{base}/mcp", mode="2026-07-28") as client,
        sayso.wrap(client, audit=url, server="behind") as guarded,
    ):
        result = await guarded.call_tool("add_it")
    assert "this call may have run or not" in text(result)
    assert await events(url) == [("attempt", None), ("outcome", "outcome_unknown")]


@pytest.mark.parametrize(
    ("code", "message", "fault"),
    [
        (INVALID_REQUEST, "Unexpected content type: text/html", Fault.LOST),
        (INVALID_REQUEST, "Session terminated", None),
        (REQUEST_TIMEOUT, "Timed out after 1s waiting for 'tools/call'", Fault.TIMED_OUT),
        (REQUEST_TIMEOUT, "Request 'tools/call' timed out", Fault.TIMED_OUT),
        (-32000, "Connection closed", Fault.LOST),
        (-32000, "out of paper", None),
    ],
)
def test_errors_that_stand_for_no_answer_are_told_from_those_of_a_server(
    code: int, message: str, fault: Fault | None
) -> None:
    assert received(MCPError(code, message)).fault is fault
    assert received(MCPError(code, message, {"data": 1})).fault is None


def test_a_result_that_the_sdk_cannot_hold_is_told_as_text() -> None:
    odd = {"type": "hologram", "data": [1]}
    result = call_result({"content": [odd, {"type": "text", "text": "a"}], "_meta": 7})
    assert [json.loads(result.content[0].text), text(result)[-1]] == [odd, "a"]  # pyright: ignore[reportAttributeAccessIssue]
    assert result.meta is None
    assert call_result({"content": None}).content == []


def test_a_tool_that_the_sdk_cannot_hold_is_left_out() -> None:
    listed = tools_result([{"name": "a"}, {"name": "b", "icons": 7}])
    assert [one.name for one in listed.tools] == ["a"]
