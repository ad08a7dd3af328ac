"""Declarations that cannot be meant: refused when they are made, and nothing is left of them."""

from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client
from tests.serve.serving import KINDS, inside, make

import sayso
from sayso.errors import PolicyError, UsageError

pytestmark = pytest.mark.anyio


def of_customer(customer: Any) -> Any:
    return [customer]


def number(number: int) -> str:
    return str(number)


BAD: dict[str, tuple[str, dict[str, Any]]] = {
    "a name with a space": ("is not a valid tool name", {"name": "drop table"}),
    "no name": ("is not a valid tool name", {"name": ""}),
    "a name too long": ("is not a valid tool name", {"name": "x" * 129}),
    "a name in another script": ("is not a valid tool name", {"name": "удалить"}),
    "a field that is missing": ("confirm names {customer}", {"confirm": "Delete {customer}?"}),
    "a plan of nothing": ("requires 'customer'", {"plan": of_customer}),
    "a narrowing of nothing": ("requires 'customer'", {"narrow": of_customer}),
    "a condition of nothing": ("requires 'customer'", {"when": of_customer}),
    "a plan that is none": ("plan must be a function", {"plan": ["delete"]}),
    "an unreadable condition": ("cannot be read", {"when": max}),
    "a scope that is misspelt": ("Did you mean 'customers.read'", {"scopes": {"customer.read"}}),
    "a text for scopes": ("must be a set", {"scopes": "customers.read"}),
    "otherwise without when": ("otherwise", {"otherwise": "not now"}),
    "a field that there is none of": ("unknown field 'confrim'", {"confrim": "Sure?"}),
    "a dry run of nothing": ("dry_run", {"dry_run": True}),
    "a dry run by no parameter": ("dry_run names 'dryRun'", {"dry_run": "dryRun"}),
    "a dry run by a number": ("not a boolean parameter", {"dry_run": "number"}),
    "a dry run of no name": ("must be a text", {"dry_run": 7}),
    "a plan and a dry run": ("not both", {"dry_run": "number", "plan": list}),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("what", BAD)
async def test_what_cannot_be_meant_is_refused_when_it_is_declared(kind: str, what: str) -> None:
    words, fields = BAD[what]
    tools = sayso.bind(make(kind), scopes={"customers.read", "customers.write"})
    given: dict[str, Any] = {"name": "tool", **fields}
    with pytest.raises(UsageError) as caught:
        tools.tool(sayso.DELETE, **given)(number)
    assert words in str(caught.value)
    assert tools.definitions == []
    if kind != "Server":
        assert await tools.framework.entries() == []


@pytest.mark.parametrize("kind", KINDS)
def test_two_tools_of_one_name_are_refused(kind: str) -> None:
    tools = sayso.bind(make(kind))
    tools.tool(sayso.READ_ONLY)(number)
    for again in (
        lambda: tools.tool(sayso.READ_ONLY)(number),
        lambda: tools.add(name="number", intent=sayso.READ_ONLY, execute=_ok),
    ):
        with pytest.raises(UsageError, match="two tools are called 'number'"):
            again()


@pytest.mark.parametrize("kind", ["MCPServer", "FastMCP"])
def test_a_name_that_the_framework_has_already_is_refused(kind: str) -> None:
    server = make(kind)
    server.tool(name="number")(number)
    tools = sayso.bind(server)
    with pytest.raises(UsageError, match="two tools are called 'number'"):
        tools.tool(sayso.READ_ONLY)(number)


def _yields(_ctx: Any, _given: Any) -> Any:
    yield 1


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"input_schema": [1]}, "a schema must be an object, got a list"),
        ({"input_schema": {"type": "banana"}}, "tool t"),
        ({"input_schema": {"type": "array"}}, 'must have "type": "object"'),
        ({"input_schema": {"properties": {"a": {"type": 7}}}}, "tool t"),
        ({"input_schema": {"properties": [1]}}, "tool t"),
        ({"output_schema": {"type": "object", "required": "id"}}, "tool t"),
        ({"output_schema": {"type": "string"}}, 'must have "type": "object"'),
        ({"execute": None}, "execute must be a function"),
        ({"execute": lambda: None}, "execute must be a function"),
        ({"execute": dict}, "execute must be a function"),
        ({"execute": _yields}, "generator"),
    ],
)
def test_schemas_and_functions_that_are_none_are_refused(
    fields: dict[str, Any], words: str
) -> None:
    tools = sayso.bind(make("Server"))
    given: dict[str, Any] = {"name": "t", "intent": sayso.READ_ONLY, "execute": _ok, **fields}
    with pytest.raises(UsageError, match=words):
        tools.add(**given)


@pytest.mark.parametrize("schema", [{}, {"properties": {"id": {"type": "string"}}}])
def test_a_schema_without_type_object_is_refused_as_data_and_as_a_definition(
    schema: dict[str, Any],
) -> None:
    tools = sayso.bind(make("Server"))
    with pytest.raises(UsageError) as added:
        tools.add(name="t", intent=sayso.READ_ONLY, execute=_ok, input_schema=schema)
    with pytest.raises(UsageError) as defined:
        sayso.ToolDefinition("t", sayso.READ_ONLY, input_schema=schema, execute=_ok)
    assert str(added.value) == str(defined.value)
    assert 'tool t: a schema must have "type": "object"' in str(added.value)


def _ok(_ctx: Any, _given: Any) -> str:
    return "ok"


@pytest.mark.parametrize("kind", KINDS)
def test_a_function_that_gives_no_one_result_is_refused(kind: str) -> None:
    tools = sayso.bind(make(kind))

    def counting() -> Any:
        yield 1

    async def streaming() -> Any:
        yield 1

    for function in (counting, streaming):
        with pytest.raises(UsageError, match="generator"):
            tools.tool(sayso.READ_ONLY)(function)
    with pytest.raises(UsageError, match="is not a function"):
        tools.tool(sayso.READ_ONLY, name="seven")(7)  # type: ignore[type-var]


@pytest.mark.parametrize("kind", KINDS)
def test_types_that_make_no_schema_are_refused(kind: str) -> None:
    tools = sayso.bind(make(kind))

    def lost(a: "Nowhere") -> str:  # type: ignore[name-defined]  # noqa: F821 - it is missing
        return str(a)

    def odd(a: anyio.Event) -> str:
        return str(a)

    with pytest.raises(UsageError, match="cannot be read"):
        tools.tool(sayso.READ_ONLY)(lost)
    with pytest.raises(UsageError, match="cannot be converted to a schema") as caught:
        tools.tool(sayso.READ_ONLY)(odd)
    assert "\n" not in str(caught.value)

    def wanting(context: sayso.Context) -> str:
        return str(context.arguments)

    with pytest.raises(UsageError, match=r"tool wanting: .* Call sayso\.context\(\) inside"):
        tools.tool(sayso.READ_ONLY)(wanting)


def test_what_is_no_server_and_what_is_bound_already_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="tools cannot be bound to"):
        sayso.bind("server")
    server = make("MCPServer")
    sayso.bind(server)
    with pytest.raises(UsageError, match="already bound to this server"):
        sayso.bind(server)
    rules = tmp_path / "policy.toml"
    rules.write_text("mode = 'banana'\n")
    with pytest.raises(PolicyError):
        sayso.bind(make("Server"), policy=rules)


def test_a_decorator_without_its_parentheses_is_refused_and_loses_no_tool() -> None:
    tools = sayso.bind(make("MCPServer"))
    bare: Any = tools.tool
    with pytest.raises(UsageError, match=r"tool number: .* Write @tools\.tool\(sayso\.READ_ONLY\)"):
        bare(number)
    declare: Any = sayso.declare
    with pytest.raises(UsageError, match=r"tool number: .* Write @sayso\.declare"):
        declare(number)


@pytest.mark.parametrize("intent", ["number", {"read_only"}, 7])
def test_what_is_no_intent_is_refused_where_it_stands(intent: Any) -> None:
    tools = sayso.bind(make("Server"))
    with pytest.raises(UsageError, match=r"tool number: .* is not an intent"):
        tools.tool(intent)(number)
    with pytest.raises(UsageError, match=r"tool number: .* is not an intent"):
        tools.add(name="number", intent=intent, execute=_ok)
    with pytest.raises(UsageError, match=r"declare: .* is not an intent"):
        sayso.declare(intent)


def test_a_field_that_there_is_none_of_is_named_with_its_tool_or_group() -> None:
    tools = sayso.bind(make("Server"))
    wrong: dict[str, Any] = {"scope": {"a"}}
    with pytest.raises(UsageError, match=r"tool number: .*'scope'\. Did you mean 'scopes'"):
        tools.tool(sayso.READ_ONLY, **wrong)(number)
    with pytest.raises(UsageError, match=r"group: .*'scope'\. Did you mean 'scopes'"):
        tools.group(**wrong)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"store": Path("a.db")}, r"store must be a URL or “temporary”.*sqlite:a\.db"),
        ({"principal": "me"}, r"'me' is not a principal. Write principal=sayso.Principal\('me'\)"),
        ({"principal": 7}, "7 is not a principal"),
        (
            {"policy": {"mode": "strict"}},
            "bind: policy must be a Policy or the path of a policy.toml, got dict",
        ),
    ],
)
def test_a_caller_or_a_policy_that_is_none_is_refused(given: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        sayso.bind(make("Server"), **given)


DECLARED_BADLY: dict[str, tuple[str, dict[str, Any]]] = {
    key: BAD[key]
    for key in (
        "a field that is missing",
        "a plan of nothing",
        "a narrowing of nothing",
        "a condition of nothing",
        "a scope that is misspelt",
    )
}


@pytest.mark.parametrize("kind", ["MCPServer", "FastMCP"])
@pytest.mark.parametrize("what", DECLARED_BADLY)
async def test_what_cannot_be_meant_of_a_framework_s_tool_ends_the_start(
    kind: str, what: str
) -> None:
    words, fields = DECLARED_BADLY[what]
    server = make(kind)
    sayso.bind(server, scopes={"customers.read"}, store="temporary")
    server.tool(name="number")(sayso.declare(sayso.DELETE, **fields)(number))
    with pytest.raises(UsageError, match="tool number: ") as caught:
        async with Client(inside(server)):
            pass
    assert words in str(caught.value)


@pytest.mark.parametrize("what", ["a plan that is none", "an unreadable condition"])
def test_a_declaration_that_no_tool_can_mean_is_refused_at_once(what: str) -> None:
    words, fields = BAD[what]
    with pytest.raises(UsageError, match=words):
        sayso.declare(sayso.DELETE, **fields)
    with pytest.raises(UsageError, match="declared read-only and destructive"):
        sayso.declare(sayso.READ_ONLY, destructive=True)  # type: ignore[call-arg]
