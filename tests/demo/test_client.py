"""The client that a person runs, against the demo and against what answers as a gateway does."""

import signal
import sys
from collections.abc import Iterator
from socket import create_server
from typing import Any

import anyio
import pytest
from mcp import MCPError
from mcp.server import MCPServer
from mcp.server.lowlevel import Server
from mcp.server.mcpserver import Context
from mcp_types import (
    INTERNAL_ERROR,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
    Tool,
)
from starlette.applications import Starlette
from starlette.responses import HTMLResponse
from starlette.routing import Route

from sayso.demo import client
from sayso.demo.client import APPROVAL_KEY, main, visit
from sayso.errors import NotMcpError, TargetError, TimedOutError, UnreachableError
from sayso.intent import META_KEY

pytestmark = pytest.mark.anyio

DELETED = {"success": True, "message": "Customer 3 is deleted."}


def answer(text: str, state: str | None = None) -> CallToolResult:
    """A tool error, as a gateway makes it."""
    meta = {APPROVAL_KEY: {"number": 1, "state": state}} if state else None
    return CallToolResult(content=[TextContent(text=text)], is_error=True, _meta=meta)


def gateway(answers: Iterator[CallToolResult]) -> Any:
    """A server that answers calls of one tool as a gateway does, one after the other."""
    server: MCPServer[Any] = MCPServer("gateway", log_level="ERROR")

    async def customer_delete(customer_id: int, context: Context[Any, Any]) -> CallToolResult:
        for _ in range(2):
            await context.report_progress(1, 45, f"Customer {customer_id} waits for a person.")
        await context.report_progress(2, 45)
        return next(answers)

    meta = {META_KEY: {"level": "destructive", "declared": {}}}
    server.tool("demo__customer_delete", title="Delete customer", meta=meta)(customer_delete)
    return server.streamable_http_app()


async def test_without_a_customer_it_lists_the_tools_and_calls_none(
    server: MCPServer[Any], serve: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    async with serve(server.streamable_http_app()) as url:
        code = await visit(url, None)

    captured = capsys.readouterr()
    lines = [line.split() for line in captured.out.splitlines()]
    assert code == 0
    assert lines[0] == ["customers_list", "read", "(as", "declared)", "List", "customers"]
    assert [line[1] for line in lines].count("destructive") == 3
    assert "--delete" in captured.err


async def test_it_deletes_where_nobody_has_to_be_asked(
    server: MCPServer[Any], serve: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    async with serve(server.streamable_http_app()) as url:
        codes = [await visit(url, 12) for _ in range(2)]

    outcomes = [line for line in capsys.readouterr().out.splitlines() if line.startswith("{")]
    assert codes == [0, 1]
    assert '"success": true' in outcomes[0]
    assert "There is no customer 12." in outcomes[1]


async def test_it_calls_again_until_a_person_has_answered(
    serve: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    waits = answer("Not run yet: it waits for a person.", "pending")
    done = CallToolResult(content=[], structured_content=DELETED)

    async with serve(gateway(iter([waits, waits, done]))) as url:
        code = await visit(url, 3, pause=0)

    captured = capsys.readouterr()
    assert code == 0
    assert captured.out.splitlines()[0].split()[:2] == ["demo__customer_delete", "destructive"]
    assert '"Customer 3 is deleted."' in captured.out
    assert captured.err.count("Customer 3 waits for a person.") == 1
    assert captured.err.count("No answer yet") == 2


@pytest.mark.parametrize(
    ("answered", "code"),
    [(answer("A person denied this call.", "denied"), 5), (answer("It went wrong."), 1)],
)
async def test_a_refusal_and_a_failure_are_told_apart(
    serve: Any, capsys: pytest.CaptureFixture[str], answered: CallToolResult, code: int
) -> None:
    async with serve(gateway(iter([answered]))) as url:
        assert await visit(url, 3) == code

    (block,) = answered.content
    assert isinstance(block, TextContent)
    assert block.text in capsys.readouterr().err


async def test_an_answer_without_structure_is_shown_as_text(
    serve: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    plain = CallToolResult(content=[TextContent(text="Done.")])

    async with serve(gateway(iter([plain]))) as url:
        assert await visit(url, 3) == 0

    assert capsys.readouterr().out.endswith("Done.\n")


async def test_a_server_without_that_tool_is_named(serve: Any) -> None:
    server: MCPServer[Any] = MCPServer("empty", log_level="ERROR")
    async with serve(server.streamable_http_app()) as url:
        with pytest.raises(TargetError, match="the server has no tool whose name ends in"):
            await visit(url, 3)


@pytest.mark.parametrize("has_begun", [False, True])
async def test_a_call_whose_answer_is_lost_is_not_made_again(
    server: MCPServer[Any], serve: Any, *, has_begun: bool
) -> None:
    application = server.streamable_http_app()
    calls: list[str] = []

    async def cut(scope: Any, receive: Any, send: Any) -> None:
        headers = dict(scope.get("headers", ()))
        if headers.get(b"mcp-method") != b"tools/call":
            return await application(scope, receive, send)
        calls.append(scope["path"])
        if has_begun:
            kind = (b"content-type", b"text/event-stream")
            await send({"type": "http.response.start", "status": 200, "headers": [kind]})
        raise ConnectionAbortedError

    async with serve(cut) as url:
        with pytest.raises(UnreachableError, match="may have run or not"):
            await visit(url, 3)

    assert calls == ["/mcp"]


async def test_a_list_of_several_pages_is_read_to_its_end(
    serve: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    async def list_tools(_: object, params: PaginatedRequestParams | None) -> ListToolsResult:
        page = params.cursor if params else None
        tool = Tool(name=f"tool_{page or 'one'}", input_schema={"type": "object"})
        return ListToolsResult(tools=[tool], next_cursor=None if page else "two")

    server: Server[Any] = Server("pages", on_list_tools=list_tools)
    async with serve(server.streamable_http_app()) as url:
        assert await visit(url, None) == 0

    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[:2] for line in lines] == [
        ["tool_one", "destructive"],
        ["tool_two", "destructive"],
    ]


async def test_a_mistake_of_its_own_is_not_blamed_on_the_server(
    server: MCPServer[Any], serve: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: object) -> None:
        raise KeyError("here")

    monkeypatch.setattr(client, "_show", fail)
    async with serve(server.streamable_http_app()) as url:
        with pytest.raises(KeyError, match="here"):
            await visit(url, None)


async def test_a_page_of_html_is_no_mcp(serve: Any) -> None:
    async def page(_: object) -> HTMLResponse:
        return HTMLResponse("<h1>Hello</h1>")

    application = Starlette(routes=[Route("/mcp", page, methods=["GET", "POST"])])
    async with serve(application) as url:
        with pytest.raises(NotMcpError, match="the server does not answer as an MCP server"):
            await visit(url, None)


async def test_a_server_that_never_answers_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "ANSWER_SECONDS", 0.1)
    with create_server(("127.0.0.1", 0)) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/mcp"
        with pytest.raises(TimedOutError, match="the request timed out"):
            await visit(url, None)


@pytest.mark.parametrize(
    ("url", "code", "expected"),
    [
        ("http://127.0.0.1:1/mcp", 4, "Is the server running?"),
        ("127.0.0.1:1", 2, "the URL is not http:// or https://"),
    ],
)
def test_an_address_that_leads_nowhere_is_one_clear_line(
    url: str, code: int, expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([url]) == code

    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith(f"sayso.demo.client: {url}: ")
    assert expected in captured.err
    assert captured.err.count("\n") == 1


@pytest.mark.process
async def test_ctrl_c_ends_the_wait_with_130(serve: Any) -> None:
    def forever() -> Iterator[CallToolResult]:
        while True:
            yield answer("Not run yet: it waits for a person.", "pending")

    async with serve(gateway(forever())) as url:
        command = [sys.executable, "-m", "sayso.demo.client", url, "--delete", "3"]
        async with await anyio.open_process(command) as process:
            assert process.stderr is not None
            heard = b""
            with anyio.fail_after(60):
                while b"No answer yet" not in heard:
                    heard += await process.stderr.receive()
                process.send_signal(signal.SIGINT)
                rest = b"".join([part async for part in process.stderr])
                assert await process.wait() == 130
            assert b"Interrupted." in rest
            assert b"Traceback" not in rest


async def test_a_server_that_refuses_to_list_its_tools_is_named(serve: Any) -> None:
    async def refuse(_: object, _params: PaginatedRequestParams | None) -> ListToolsResult:
        raise MCPError(INTERNAL_ERROR, "not today")

    server: Server[Any] = Server("closed", on_list_tools=refuse)
    async with serve(server.streamable_http_app()) as url:
        with pytest.raises(UnreachableError, match="did not send its tools: not today"):
            await visit(url, None)
