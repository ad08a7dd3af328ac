"""Handlers and declarations that misbehave: a clear error at the right time, and nothing leaks."""

import asyncio
import logging
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import anyio
import pytest
from mcp.shared.exceptions import MCPError
from mcp.shared.memory import create_client_server_memory_streams
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCError, JSONRPCRequest
from tests.connect.serving import raw_client, serve_app
from tests.serve.serving import (
    ERAS,
    KINDS,
    YES,
    Studio,
    app_of,
    inside,
    make,
    offer,
    outcomes,
    text,
)

import sayso
from sayso.intent import Hints
from sayso.serve import Tools, functions

pytestmark = pytest.mark.anyio

SECRET = "hunter2"


class Alarm(BaseException):
    """An error that no server expects."""


def told(result: Any) -> str:
    return result.model_dump_json()


# --- what is raised ---------------------------------------------------------------------------


def raising(error: BaseException) -> list[Callable[..., Any]]:
    """Declare functions that raise the same error in a thread and in a coroutine."""

    def plain() -> str:
        raise error

    async def eventual() -> str:
        await anyio.lowlevel.checkpoint()
        raise error

    return [plain, eventual]


def ignoring(function: Callable[..., Any]) -> Any:
    """Raise the error as a definition's function."""

    def execute(_ctx: Any, _given: Any) -> Any:
        return function()

    return execute


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("era", ERAS)
async def test_nothing_that_a_handler_raises_leaks_or_ends_the_server(kind: str, era: str) -> None:
    errors = [
        RuntimeError(SECRET),
        ExceptionGroup(SECRET, [ValueError(SECRET)]),
        BaseExceptionGroup(SECRET, [Alarm(SECRET)]),
        Alarm(SECRET),
        SystemExit(SECRET),
        asyncio.CancelledError(SECRET),
        StopIteration(SECRET),
        RecursionError(SECRET),
    ]

    def declare(tools: Tools, _: Studio) -> None:
        for number, error in enumerate(errors):
            for function in raising(error):
                name = f"{function.__name__}_{number}"
                tools.tool(sayso.WRITE, name=name)(function)
                tools.add(
                    name=f"raw_{name}",
                    intent=sayso.WRITE,
                    execute=ignoring(function),
                )

    offered = offer(kind, declare=declare)
    async with offered.client(era) as caller:
        names = await caller.names()
        for name in names:
            result = await caller.call(name)
            assert result.is_error, name
            assert SECRET not in told(result), name
            assert "incident" in text(result), name
            assert "Part of it may have been done" in text(result), name
    assert await outcomes(offered.url) == ["tool_error"] * len(names)


@pytest.mark.parametrize("kind", KINDS)
async def test_what_an_author_says_on_purpose_is_said(kind: str) -> None:
    from fastmcp.exceptions import ToolError as FastError
    from mcp.server.mcpserver.exceptions import ToolError

    def declare(tools: Tools, _: Studio) -> None:
        @tools.tool(sayso.READ_ONLY)
        def customer_get() -> str:
            raise (FastError if kind == "FastMCP" else ToolError)("no such customer")

        @tools.tool(sayso.READ_ONLY)
        def invoice_get() -> str:
            raise MCPError(-32000, "no such invoice")

        @tools.tool(sayso.READ_ONLY, on_error="The register is closed")
        def register_get() -> str:
            raise RuntimeError(SECRET)

    async with offer(kind, declare=declare).client() as caller:
        assert "no such customer" in text(await caller.call("customer_get"))
        assert "no such invoice" in text(await caller.call("invoice_get"))
        assert text(await caller.call("register_get")).startswith("The register is closed (inc")


@pytest.mark.parametrize("kind", KINDS)
async def test_what_is_said_on_purpose_leaves_no_trace_in_the_log_and_a_mistake_one(
    kind: str, caplog: pytest.LogCaptureFixture
) -> None:
    def declare(tools: Tools, _: Studio) -> None:
        @tools.tool(sayso.READ_ONLY)
        def customer_get() -> str:
            raise sayso.SaysoError("no such customer")

        @tools.tool(sayso.READ_ONLY)
        async def register_get() -> str:
            raise RuntimeError("the register is away")

    async with offer(kind, declare=declare).client() as caller:
        assert text(await caller.call("customer_get")) == "no such customer"
        assert [one for one in caplog.records if one.exc_info] == []
        assert "incident" in text(await caller.call("register_get"))
        ours = [record for record in caplog.records if record.name.startswith("sayso.")]
        (line,) = [record for record in ours if record.levelname == "ERROR"]
    message = line.getMessage()
    assert line.exc_info is None
    assert "\n" not in message
    assert re.search(r"in register_get: RuntimeError: the register is away at .*\.py:\d+$", message)


@pytest.mark.parametrize("kind", KINDS)
async def test_at_debug_the_log_has_the_traceback_of_a_tool_that_failed(
    kind: str, caplog: pytest.LogCaptureFixture
) -> None:
    def declare(tools: Tools, _: Studio) -> None:
        @tools.tool(sayso.READ_ONLY)
        async def register_get() -> str:
            raise RuntimeError("the register is away")

    caplog.set_level("DEBUG", "sayso")
    async with offer(kind, declare=declare).client() as caller:
        await caller.call("register_get")
    ours = [record for record in caplog.records if record.name.startswith("sayso.")]
    traced = [record.name for record in ours if record.exc_info]
    assert traced == ["sayso.guard.steps.outcome"]


@pytest.mark.parametrize("kind", KINDS)
async def test_a_tool_that_is_not_declared_leaks_nothing_either(kind: str) -> None:
    if kind == "Server":
        pytest.skip("its author writes the results")
    server = make(kind)

    def customer_get() -> str:
        raise RuntimeError(SECRET)

    server.tool(annotations={"readOnlyHint": True})(customer_get) if kind == "FastMCP" else (
        server.add_tool(customer_get, annotations=_read())
    )
    offered = offer(kind, server=server, declare=lambda _tools, _studio: None)
    async with offered.client() as caller:
        result = await caller.call("customer_get")
    assert result.is_error
    assert SECRET not in told(result)


def _read() -> Any:
    from mcp_types import ToolAnnotations

    return ToolAnnotations(read_only_hint=True)


# --- what is returned -------------------------------------------------------------------------


@dataclass
class Odd:
    """A value that a handler gives, and the type that it says it gives."""

    value: Any
    says: Any


def circle() -> dict[str, Any]:
    found: dict[str, Any] = {}
    return {**found, "self": found} if found else _closed(found)


def _closed(found: dict[str, Any]) -> dict[str, Any]:
    found["self"] = found
    return found


ODD: dict[str, Odd] = {
    "nan": Odd(float("nan"), float),
    "deep_nan": Odd({"rate": float("inf")}, dict[str, float]),
    "wrong_type": Odd(SECRET, int),
    "wrong_field": Odd({"id": SECRET}, dict[str, int]),
    "circle": Odd(circle(), dict[str, Any]),
    "huge": Odd("x" * 50_000_000, str),
    "a_generator": Odd((one for one in (1, 2)), Any),
    "an_object": Odd(object(), Any),
    "a_function": Odd(print, Any),
}


def giving(odd: Odd) -> Callable[..., Any]:
    def function() -> Any:
        return odd.value

    function.__annotations__["return"] = odd.says
    return function


@pytest.mark.parametrize("kind", KINDS)
async def test_a_result_that_is_none_is_withheld(kind: str) -> None:
    def declare(tools: Tools, _: Studio) -> None:
        for name, odd in ODD.items():
            tools.tool(sayso.READ_ONLY, name=name)(giving(odd))

    offered = offer(kind, declare=declare)
    async with offered.client() as caller:
        for name in ODD:
            result = await caller.call(name)
            assert result.is_error, (name, told(result)[:200])
            assert "withheld" in text(result), name
            assert SECRET not in told(result), name
    assert await outcomes(offered.url) == ["bad_output"] * len(ODD)


async def test_what_a_definition_returns_is_json_or_withheld() -> None:
    given = {
        "bytes": b"\xff",
        "a_key_that_is_a_number": {1: 2},
        "circle": circle(),
        "nan": [float("nan")],
        "huge_text": "x" * 2_000_000,
    }

    def declare(tools: Tools, _: Studio) -> None:
        for name, value in given.items():
            tools.add(name=name, intent=sayso.READ_ONLY, execute=ignoring(giving(Odd(value, Any))))

    async with offer("Server", declare=declare).client() as caller:
        for name in given:
            assert "withheld" in text(await caller.call(name)), name


@pytest.mark.parametrize("kind", KINDS)
async def test_a_set_is_a_list_in_json(kind: str) -> None:
    def declare(tools: Tools, _: Studio) -> None:
        @tools.tool(sayso.READ_ONLY)
        def numbers() -> set[int]:
            return {7}

    async with offer(kind, declare=declare).client() as caller:
        assert (await caller.call("numbers")).structured_content == {"result": [7]}


async def test_an_object_that_looks_like_a_result_is_no_result() -> None:
    def declare(tools: Tools, _: Studio) -> None:
        document = {"title": "Terms", "content": ["one", "two"]}
        tools.add(name="terms_get", intent=sayso.READ_ONLY, execute=lambda _ctx, _given: document)

    async with offer("MCPServer", declare=declare).client() as caller:
        result = await caller.call("terms_get")
    assert result.structured_content == {"title": "Terms", "content": ["one", "two"]}


# --- plan, narrow, when -----------------------------------------------------------------------


def _raise(**_: Any) -> Any:
    raise RuntimeError(SECRET)


def _hang(**_: Any) -> Any:
    time.sleep(0.5)


async def _hang_softly(**_: Any) -> Any:
    await anyio.sleep_forever()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("field", ["plan", "narrow", "when"])
@pytest.mark.parametrize("function", [_raise, _hang, _hang_softly])
async def test_a_function_beside_a_tool_that_fails_or_hangs_lets_nothing_run(
    kind: str, field: str, function: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    defaults = functions.by_name.__defaults__
    assert defaults is not None
    monkeypatch.setattr(functions.by_name, "__defaults__", (0.05,))
    ran: list[int] = []

    def declare(tools: Tools, _: Studio) -> None:
        given: dict[str, Any] = {field: function}

        @tools.tool(sayso.DELETE, **given)
        def customer_delete(customer_id: int) -> None:
            ran.append(customer_id)

    async with offer(kind, declare=declare).client() as caller:
        result = await caller.call("customer_delete", {"customer_id": 1})
    assert result.is_error
    assert SECRET not in told(result)
    assert ran == []


def number(number: int) -> str:
    return str(number)


def _ok(_ctx: Any, _given: Any) -> str:
    return "ok"


async def test_a_narrowing_that_widens_does_not_run() -> None:
    ran: list[int] = []

    def declare(tools: Tools, _: Studio) -> None:
        @tools.tool(sayso.READ_ONLY, narrow=lambda: Hints(read_only=False))
        def customer_get() -> None:
            ran.append(1)

    async with offer("MCPServer", declare=declare).client() as caller:
        result = await caller.call("customer_get")
    assert "not what its tool declares" in text(result)
    assert ran == []


# --- at run time ------------------------------------------------------------------------------


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("kind", ["MCPServer", "FastMCP"])
async def test_a_tool_that_is_replaced_is_not_the_one_that_was_declared(
    kind: str, era: str, caplog: pytest.LogCaptureFixture
) -> None:
    ran: list[str] = []

    def declare(tools: Tools, _: Studio) -> None:
        @tools.tool(sayso.READ_ONLY)
        def customers() -> str:
            return "all"

    offered = offer(kind, declare=declare)

    def customers() -> str:
        ran.append("dropped")
        return "dropped"

    async with offered.client(era) as caller:
        assert text(await caller.call("customers")) == "all"
        offered.tools.framework.remove("customers")
        with pytest.raises(MCPError, match="Unknown tool: customers"):
            await caller.call("customers")
        offered.server.tool(name="customers")(customers)
        result = await caller.call("customers")
        (listed,) = (await caller.client.list_tools()).tools
    assert result.is_error
    assert ran == []
    assert listed.annotations is not None
    assert listed.annotations.destructive_hint is True
    assert "was replaced after its declaration" in caplog.text


@pytest.mark.parametrize("kind", ["MCPServer", "FastMCP"])
async def test_a_declared_tool_does_not_run_past_the_guard(kind: str) -> None:
    offered = offer(kind)
    with pytest.raises(Exception, match=r"."):
        await offered.server.call_tool("customer_delete", {"customer_id": 2})
    if kind == "FastMCP":
        from fastmcp import FastMCP

        outer = FastMCP("outer")
        outer.mount(offered.server)
        with pytest.raises(Exception, match=r"."):
            await outer.call_tool("customer_delete", {"customer_id": 2})
    assert offered.studio.done == []


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("era", ["2025-11-25", "2026-07-28"])
async def test_a_call_that_is_none_runs_nothing(kind: str, era: str) -> None:
    ran: list[str] = []

    def declare(tools: Tools, _: Studio) -> None:
        tools.tool(sayso.WRITE, name="wipe")(lambda: ran.append("wipe"))

    bad = [{"name": "wipe", "arguments": one} for one in (["x"], "x", 7, True)]
    async with (
        serve_app(app_of(offer(kind, declare=declare).server)) as base,
        raw_client(f"{base}/mcp", era) as raw,
    ):
        for params in (*bad, {"name": "Wipe"}, {"name": " wipe"}):
            assert "error" in await raw.ask("tools/call", params), params
        assert ran == []
        assert "result" in await raw.ask("tools/call", {"name": "wipe", "arguments": None})
    assert ran == ["wipe"]


@pytest.mark.parametrize("kind", KINDS)
async def test_before_the_handshake_nothing_is_listed_and_nothing_runs(kind: str) -> None:
    offered = offer(kind)
    server = inside(offered.server)
    server = vars(server).get("_lowlevel_server", server)
    given = {"id": 1, "name": "x"}
    asked = [
        ("tools/list", {}),
        ("tools/call", {"name": "customer_write", "arguments": given}),
        ("tools/call", {"name": "customer_get", "arguments": {"customer_id": 1}}),
    ]
    async with (
        create_client_server_memory_streams() as (client, (read, write)),
        anyio.create_task_group() as group,
    ):
        group.start_soon(server.run, read, write, server.create_initialization_options())
        for method, params in asked:
            request = JSONRPCRequest(jsonrpc="2.0", id=1, method=method, params=params)
            await client[1].send(SessionMessage(request))
            with anyio.fail_after(60):
                answer = await client[0].receive()
            assert isinstance(answer, SessionMessage)
            assert isinstance(answer.message, JSONRPCError)
        group.cancel_scope.cancel()
    assert offered.studio.done == []


async def test_the_name_that_a_framework_has_too_is_told_of(
    caplog: pytest.LogCaptureFixture,
) -> None:
    server = make("MCPServer")
    server.tool(name="number")(number)

    def declare(tools: Tools, _: Studio) -> None:
        tools.add(name="number", intent=sayso.READ_ONLY, execute=_ok)

    with caplog.at_level(logging.WARNING):
        async with offer("MCPServer", server=server, declare=declare).client(answer=YES) as caller:
            assert text(await caller.call("number")) == "ok"
    assert "two tools are called 'number'" in caplog.text
