"""Authors' mistakes are seen when they are made, or when the server starts; not in a call."""

import math
from typing import Any

import pytest
from mcp.server.lowlevel import Server
from tests.serve.serving import KINDS, make, offer, text

import sayso
from sayso.errors import UsageError
from sayso.intent import Span
from sayso.serve import Tools

pytestmark = pytest.mark.anyio


def wipe(number: int) -> str:
    """Wipe it."""
    return str(number)


def plan_other(other: int) -> list[int]:
    return [other]


def _ok(_ctx: Any, _given: Any) -> str:
    return "ok"


WRONG: dict[str, list[Any]] = {
    "title": [7],
    "category": [7],
    "tags": [7, [7], None, "crm"],
    "scopes": [7, [None], None, "crm"],
    "roles": [7, {1}, None, "crm"],
    "confirm": [7],
    "grant": ["often", 3],
    "on_error": [7],
    "plan": [7],
    "narrow": ["x"],
    "when": [3],
    "otherwise": [7],
    "scope": [{"crm"}],
}
FIELDS = [(name, value) for name, values in WRONG.items() for value in values]


@pytest.mark.parametrize(("name", "value"), FIELDS)
def test_a_field_of_another_kind_is_refused_wherever_it_is_said(name: str, value: Any) -> None:
    tools = sayso.bind(make("MCPServer"), store="temporary")
    given: dict[str, Any] = {name: value}
    for declare in (
        lambda: tools.tool(sayso.DELETE, **given)(wipe),
        lambda: tools.add(name="x", intent=sayso.DELETE, execute=_ok, **given),
        lambda: tools.group(**given),
        lambda: sayso.declare(sayso.DELETE, **given),
    ):
        with pytest.raises(UsageError, match=name):
            declare()
    assert tools.definitions == []


def test_the_length_of_a_grant_may_be_its_word() -> None:
    assert sayso.DELETE.but(grant="session").grant is Span.SESSION


def test_a_decorator_without_parentheses_is_told_of_at_once() -> None:
    tools: Any = sayso.bind(make("MCPServer"), store="temporary")
    with pytest.raises(UsageError, match=r"Write @tools.tool\(sayso.READ_ONLY\)"):
        tools.tool(wipe)
    declare: Any = sayso.declare
    for intent in (wipe, "READ_ONLY"):
        with pytest.raises(UsageError, match=r"Write @sayso.declare\(sayso.READ_ONLY\)"):
            declare(intent)
    with pytest.raises(UsageError, match="'READ_ONLY' is not an intent"):
        tools.add(name="x", intent="READ_ONLY", execute=_ok)


def test_a_group_is_held_to_the_scopes_that_there_are() -> None:
    tools = sayso.bind(make("MCPServer"), store="temporary", scopes={"customers.read"})
    with pytest.raises(UsageError, match=r"Did you mean 'customers.read'\?"):
        tools.group(scopes={"customer.read"})


def test_what_cannot_hold_together_is_refused_where_it_is_declared() -> None:
    with pytest.raises(UsageError, match="declared read-only, but has a confirmation text"):
        sayso.declare(sayso.READ_ONLY, confirm="Sure?")
    with pytest.raises(UsageError, match="otherwise requires when"):
        sayso.declare(sayso.DELETE, otherwise="Not now.")


@pytest.mark.parametrize("kind", KINDS)
def test_an_argument_that_a_call_cannot_name_is_refused(kind: str) -> None:
    def listed(*numbers: int) -> str:
        return str(numbers)

    def named(**numbers: int) -> str:
        return str(numbers)

    def placed(number: int, /) -> str:
        return str(number)

    tools = sayso.bind(make(kind), store="temporary")
    for function in (listed, named, placed):
        with pytest.raises(UsageError, match="cannot be passed by name"):
            tools.tool(sayso.READ_ONLY)(function)
    assert tools.definitions == []


@pytest.mark.parametrize(
    "given",
    [
        {"patience": -1},
        {"patience": math.nan},
        {"patience": math.inf},
        {"patience": "long"},
        {"scopes": "customers.read"},
        {"scopes": [7]},
        {"principal": "amy"},
    ],
)
def test_a_server_is_not_bound_to_what_cannot_be_meant(given: dict[str, Any]) -> None:
    server = make("MCPServer")
    with pytest.raises(UsageError):
        sayso.bind(server, store="temporary", **given)
    assert isinstance(sayso.bind(server, store="temporary"), Tools)


AT_START: list[tuple[dict[str, Any], str]] = [
    ({"confirm": "Wipe {nobody}?"}, "confirm names {nobody}"),
    ({"plan": plan_other}, "requires 'other', which is not an argument of the tool"),
    ({"scopes": {"customer.read"}}, "Did you mean 'customers.read'?"),
]


@pytest.mark.parametrize(("fields", "told"), AT_START)
@pytest.mark.parametrize("kind", ["MCPServer", "FastMCP"])
async def test_what_is_declared_of_another_tool_stops_the_server_when_it_starts(
    kind: str, fields: dict[str, Any], told: str
) -> None:
    server = make(kind)
    server.tool(name="wipe")(sayso.declare(sayso.DELETE, **fields)(wipe))
    offered = offer(
        kind, server=server, declare=lambda _tools, _studio: None, scopes={"customers.read"}
    )
    with pytest.RaisesGroup(UsageError, flatten_subgroups=True, allow_unwrapped=True) as caught:
        async with offered.client():
            pass
    assert told in str(getattr(caught.value, "exceptions", [caught.value])[0])


async def test_of_two_tools_of_one_name_neither_is_believed(
    caplog: pytest.LogCaptureFixture,
) -> None:
    ran: list[str] = []

    async def listed(_: Any, __: Any) -> Any:
        entry = {"name": "wipe", "inputSchema": {"type": "object"}}
        read = {"readOnlyHint": True, "openWorldHint": False}
        tools = [entry, {**entry, "annotations": read}]
        return {"tools": tools, "resultType": "complete", "ttlMs": 0, "cacheScope": "public"}

    async def call(_: Any, given: Any) -> Any:
        ran.append(given.name)
        return {"content": [], "resultType": "complete"}

    server = Server[Any]("two", on_list_tools=listed, on_call_tool=call)
    offered = offer("Server", server=server, declare=lambda _tools, _studio: None)
    async with offered.client() as caller:
        assert "no person can be asked" in text(await caller.call("wipe"))
        (one,) = (await caller.client.list_tools()).tools
    assert one.annotations is not None
    assert one.annotations.read_only_hint is False
    assert ran == []
    assert "two tools that are called 'wipe'" in caplog.text
