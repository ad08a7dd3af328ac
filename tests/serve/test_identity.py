"""Only the function that was decided about runs, and its result is not another's.

And what a caller may not know of looks like nothing, also by the clock.
"""

import logging
from typing import Annotated, Any

import pytest
from fastmcp import FastMCP
from fastmcp.server.transforms import ToolTransform
from fastmcp.server.transforms.search import BM25SearchTransform
from fastmcp.tools.tool_transform import ToolTransformConfig
from mcp.shared.exceptions import MCPError
from mcp_types import ToolAnnotations
from pydantic import AfterValidator
from tests.connect.serving import raw_client, serve_app
from tests.serve.serving import (
    CALLER,
    KINDS,
    YES,
    Studio,
    app_of,
    make,
    offer,
    outcomes,
    text,
)

import sayso
from sayso.serve import Tools

pytestmark = pytest.mark.anyio

SECRET = "hunter2"
BOB = sayso.Principal("bob", scopes=frozenset())
READS = ToolAnnotations(read_only_hint=True, open_world_hint=False)


def nothing(_tools: Tools, _studio: Studio) -> None:
    """Declare nothing more."""


@pytest.mark.parametrize("is_declared", [True, False])
@pytest.mark.parametrize("kind", ["MCPServer", "FastMCP"])
async def test_a_tool_that_is_replaced_while_its_call_waits_does_not_run(
    kind: str, *, is_declared: bool
) -> None:
    ran: list[str] = []
    server = make(kind)

    def other() -> str:
        ran.append("other")
        return "other"

    async def swap() -> bool:
        offered.tools.framework.remove("look")
        server.tool(name="look")(sayso.declare(sayso.DELETE)(other) if is_declared else other)
        return True

    def declare(tools: Tools, _: Studio) -> None:
        @tools.tool(sayso.READ_ONLY, when=swap)
        def look() -> str:
            ran.append("look")
            return "look"

    offered = offer(kind, server=server, declare=declare)
    async with offered.client() as caller:
        result = await caller.call("look")
    assert result.is_error
    assert "Nothing was run: the tool “Look” has changed" in text(result)
    assert ran == []
    assert await outcomes(offered.url) == ["tool_changed"]


@pytest.mark.parametrize("principal", [CALLER, BOB])
async def test_a_tool_that_calls_others_by_name_takes_nobody_past_the_guard(
    principal: sayso.Principal,
) -> None:
    server = FastMCP("search", transforms=[BM25SearchTransform()])
    offered = offer("FastMCP", server=server, principal=principal)
    async with offered.client(answer=YES) as caller:
        assert "customer_delete" not in await caller.names()
        given = {"name": "customer_delete", "arguments": {"customer_id": 2}}
        assert (await caller.call("call_tool", given)).is_error
    assert offered.studio.done == []


async def test_another_name_for_a_tool_does_not_take_its_scopes_off() -> None:
    ran: list[str] = []
    server = FastMCP("renamed")

    def declare(tools: Tools, _: Studio) -> None:
        @tools.tool(sayso.DELETE, scopes={"customers.write"})
        def wipe() -> None:
            ran.append("wipe")

        server.add_transform(ToolTransform({"wipe": ToolTransformConfig(name="clean")}))

    async with offer("FastMCP", server=server, declare=declare, principal=BOB).client(
        answer=YES
    ) as caller:
        assert (await caller.call("clean")).is_error
    assert ran == []


async def test_a_tool_that_the_framework_changes_runs_as_one_that_declares_nothing() -> None:
    server = FastMCP("changed")

    @server.tool
    def greet(name: str) -> str:
        return f"hello {name}"

    changed = ToolTransformConfig(name="greet_person")
    server.add_transform(ToolTransform({"greet": changed}))
    async with offer("FastMCP", server=server, declare=nothing).client(answer=YES) as caller:
        assert text(await caller.call("greet_person", {"name": "amy"})) == "hello amy"
        assert len(caller.asked) == 1


@pytest.mark.parametrize("kind", ["MCPServer", "FastMCP"])
async def test_a_declared_function_inside_another_tool_is_only_a_function(kind: str) -> None:
    @sayso.declare(sayso.READ_ONLY)
    def customer_get() -> dict[str, str]:
        return {"iban": "DE-SECRET"}

    @sayso.declare(sayso.READ_ONLY)
    def invoice_get() -> str:
        raise RuntimeError(SECRET)

    async def count() -> int:
        return len(await customer_get())  # type: ignore[misc]

    async def look():  # type: ignore[no-untyped-def]  # noqa: ANN202 - without a schema
        await customer_get()  # type: ignore[misc]

    async def attempt() -> str:
        try:
            await invoice_get()  # type: ignore[misc]
        except RuntimeError:
            return "none"
        return "one"

    server = make(kind)
    server.tool(name="customer_get")(customer_get)
    for function in (count, look, attempt):
        server.tool(annotations=READS)(function)
    async with offer(kind, server=server, declare=nothing).client() as caller:
        assert (await caller.call("count")).structured_content == {"result": 1}
        assert "DE-SECRET" not in (await caller.call("look")).model_dump_json()
        assert text(await caller.call("attempt")) == "none"
        own = await caller.call("customer_get")
        assert own.structured_content == {"iban": "DE-SECRET"}


def fatal(_: int) -> int:
    raise RuntimeError(SECRET)


async def test_a_tool_of_a_mounted_server_leaks_nothing() -> None:
    outer, middle, inner = FastMCP("outer"), FastMCP("middle"), FastMCP("inner")

    @inner.tool(annotations=READS)
    def crash() -> str:
        raise RuntimeError(SECRET)

    @inner.tool(annotations=READS)
    def check(number: Annotated[int, AfterValidator(fatal)]) -> int:
        return number

    middle.mount(inner, namespace="b")
    outer.mount(middle, namespace="a")
    later = FastMCP("later")
    later.tool(annotations=READS)(crash)
    async with offer("FastMCP", server=outer, declare=nothing).client() as caller:
        outer.mount(later, namespace="later")
        for name, given in (("a_b_crash", {}), ("a_b_check", {"number": 1}), ("later_crash", {})):
            result = await caller.call(name, given)
            assert result.is_error
            assert SECRET not in result.model_dump_json()


@pytest.mark.parametrize("kind", KINDS)
async def test_a_hidden_tool_is_looked_for_as_long_as_one_that_is_not_there(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sayso.serve import middleware

    looks: list[int] = []
    listed = vars(middleware)["_listed"]

    async def counted(*args: Any) -> Any:
        looks.append(1)
        return await listed(*args)

    monkeypatch.setattr(middleware, "_listed", counted)
    counts: list[int] = []
    async with offer(kind, principal=BOB).client("legacy") as caller:
        for name in ("customer_get", "never_there"):
            looks.clear()
            with pytest.raises(MCPError, match="Unknown tool"):
                await caller.call(name, {"customer_id": 1})
            counts.append(len(looks))
    assert counts[0] == counts[1] == 1


@pytest.mark.parametrize("kind", KINDS)
async def test_a_header_tells_nothing_of_a_tool_that_is_hidden(kind: str) -> None:
    region = {"type": "string", "x-mcp-header": "Region"}

    def declare(tools: Tools, _: Studio) -> None:
        for name, scopes in (("seen", ()), ("hidden", {"customers.write"})):
            tools.add(
                name=name,
                intent=sayso.READ_ONLY,
                scopes=scopes,
                input_schema={"type": "object", "properties": {"region": region}},
                execute=lambda _ctx, _given: "done",
            )

    offered = offer(kind, declare=declare, principal=BOB)
    said: dict[str, str] = {}
    async with (
        serve_app(app_of(offered.server)) as base,
        raw_client(f"{base}/mcp", "2026-07-28") as raw,
    ):
        for name in ("seen", "hidden", "never_there"):
            given = {"name": name, "arguments": {"region": "eu"}}
            said[name] = str((await raw.ask("tools/call", given))["error"]).replace(name, "NAME")
    assert "header is missing" in said["seen"]
    assert said["hidden"] == said["never_there"]


SCHEMA = {"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]}


@pytest.mark.parametrize("value", [None, "seven", {"content": [{"type": "text", "text": "7"}]}])
async def test_a_tool_that_promises_a_structure_gives_one(value: Any) -> None:
    def declare(tools: Tools, _: Studio) -> None:
        for name, said in (("given", value), ("failed", None)):
            tools.add(
                name=name,
                intent=sayso.READ_ONLY,
                output_schema=SCHEMA,
                execute=lambda ctx, _, said=said, name=name: (
                    ctx.error("gone") if name == "failed" else said
                ),
            )

    async with offer("MCPServer", declare=declare).client() as caller:
        assert "withheld" in text(await caller.call("given"))
        assert text(await caller.call("failed")) == "gone"


async def test_the_author_is_told_of_a_tool_that_nobody_can_call(
    caplog: pytest.LogCaptureFixture,
) -> None:
    server = FastMCP("search", transforms=[BM25SearchTransform()])
    with caplog.at_level(logging.WARNING, "sayso"):
        async with offer("FastMCP", server=server).client():
            pass
        assert "customer_delete, customer_get, customer_list" in caplog.text
        caplog.clear()
        async with offer("FastMCP").client():
            pass
    assert "customer_delete" not in caplog.text
