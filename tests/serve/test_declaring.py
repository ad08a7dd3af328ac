"""Declarations that cannot be meant: refused when they are made, and nothing is left of them."""

from pathlib import Path
from typing import Any

import anyio
import pytest
from tests.serve.serving import KINDS, make

import avow
from avow.errors import PolicyError, UsageError

pytestmark = pytest.mark.anyio


def of_customer(customer: Any) -> Any:
    return [customer]


def number(number: int) -> str:
    return str(number)


BAD: dict[str, tuple[str, dict[str, Any]]] = {
    "a name with a space": ("is no name for a tool", {"name": "drop table"}),
    "no name": ("is no name for a tool", {"name": ""}),
    "a name too long": ("is no name for a tool", {"name": "x" * 129}),
    "a name in another script": ("is no name for a tool", {"name": "удалить"}),
    "a field that is missing": ("confirm names {customer}", {"confirm": "Delete {customer}?"}),
    "a plan of nothing": ("wants 'customer'", {"plan": of_customer}),
    "a narrowing of nothing": ("wants 'customer'", {"narrow": of_customer}),
    "a condition of nothing": ("wants 'customer'", {"when": of_customer}),
    "a plan that is none": ("plan must be a function", {"plan": ["delete"]}),
    "an unreadable condition": ("cannot be read", {"when": max}),
    "a scope that is misspelt": ("Did you mean 'customers.read'", {"scopes": {"customer.read"}}),
    "a text for scopes": ("must be a set", {"scopes": "customers.read"}),
    "otherwise without when": ("otherwise", {"otherwise": "not now"}),
    "a field that there is none of": ("no field 'confrim'", {"confrim": "Sure?"}),
    "a dry run of nothing": ("dry_run", {"dry_run": True}),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("what", BAD)
async def test_what_cannot_be_meant_is_refused_when_it_is_declared(kind: str, what: str) -> None:
    words, fields = BAD[what]
    tools = avow.bind(make(kind), scopes={"customers.read", "customers.write"})
    given: dict[str, Any] = {"name": "tool", **fields}
    with pytest.raises(UsageError) as caught:
        tools.tool(avow.DELETE, **given)(number)
    assert words in str(caught.value)
    assert tools.definitions == []
    if kind != "Server":
        assert await tools.framework.entries() == []


@pytest.mark.parametrize("kind", KINDS)
def test_two_tools_of_one_name_are_refused(kind: str) -> None:
    tools = avow.bind(make(kind))
    tools.tool(avow.READ_ONLY)(number)
    for again in (
        lambda: tools.tool(avow.READ_ONLY)(number),
        lambda: tools.add(name="number", intent=avow.READ_ONLY, execute=_ok),
    ):
        with pytest.raises(UsageError, match="two tools are called 'number'"):
            again()


@pytest.mark.parametrize("kind", ["MCPServer", "FastMCP"])
def test_a_name_that_the_framework_has_already_is_refused(kind: str) -> None:
    server = make(kind)
    server.tool(name="number")(number)
    tools = avow.bind(server)
    with pytest.raises(UsageError, match="two tools are called 'number'"):
        tools.tool(avow.READ_ONLY)(number)


def _yields(_ctx: Any, _given: Any) -> Any:
    yield 1


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"input_schema": [1]}, "a schema is an object, not a list"),
        ({"input_schema": {"type": "banana"}}, "tool t"),
        ({"input_schema": {"type": "array"}}, "must be of an object"),
        ({"input_schema": {"properties": {"a": {"type": 7}}}}, "tool t"),
        ({"input_schema": {"properties": [1]}}, "tool t"),
        ({"output_schema": {"type": "object", "required": "id"}}, "tool t"),
        ({"output_schema": {"type": "string"}}, "must be of an object"),
        ({"execute": None}, "execute must be a function"),
        ({"execute": lambda: None}, "execute must be a function"),
        ({"execute": dict}, "execute must be a function"),
        ({"execute": _yields}, "generator"),
    ],
)
def test_schemas_and_functions_that_are_none_are_refused(
    fields: dict[str, Any], words: str
) -> None:
    tools = avow.bind(make("Server"))
    given: dict[str, Any] = {"name": "t", "intent": avow.READ_ONLY, "execute": _ok, **fields}
    with pytest.raises(UsageError, match=words):
        tools.add(**given)


def _ok(_ctx: Any, _given: Any) -> str:
    return "ok"


@pytest.mark.parametrize("kind", KINDS)
def test_a_function_that_gives_no_one_result_is_refused(kind: str) -> None:
    tools = avow.bind(make(kind))

    def counting() -> Any:
        yield 1

    async def streaming() -> Any:
        yield 1

    for function in (counting, streaming):
        with pytest.raises(UsageError, match="generator"):
            tools.tool(avow.READ_ONLY)(function)
    with pytest.raises(UsageError, match="is no function"):
        tools.tool(avow.READ_ONLY, name="seven")(7)  # type: ignore[type-var]


@pytest.mark.parametrize("kind", KINDS)
def test_types_that_make_no_schema_are_refused(kind: str) -> None:
    tools = avow.bind(make(kind))

    def lost(a: "Nowhere") -> str:  # type: ignore[name-defined]  # noqa: F821 - it is missing
        return str(a)

    def odd(a: anyio.Event) -> str:
        return str(a)

    with pytest.raises(UsageError, match="cannot be read"):
        tools.tool(avow.READ_ONLY)(lost)
    with pytest.raises(UsageError, match="make no schema"):
        tools.tool(avow.READ_ONLY)(odd)


def test_what_is_no_server_and_what_is_bound_already_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no server that tools can be bound to"):
        avow.bind("server")
    server = make("MCPServer")
    avow.bind(server)
    with pytest.raises(UsageError, match="bound to this server already"):
        avow.bind(server)
    rules = tmp_path / "policy.toml"
    rules.write_text("mode = 'banana'\n")
    with pytest.raises(PolicyError):
        avow.bind(make("Server"), policy=rules)
