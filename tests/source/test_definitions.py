"""Definitions of tools: every form of the frameworks, and look-alikes."""

import pytest

from sayso.source import find_definitions, read_module

HEAD = """\
import typing
import sayso
import fastmcp
import mcp.types as types
from sayso.serve import ToolDefinition, Tools
from fastmcp import FastMCP
from fastmcp.tools import Tool as FastTool
from fastmcp.tools import tool
from mcp.server import MCPServer
from mcp.types import Tool

official = MCPServer("a")
fast = FastMCP("b")
tools = sayso.bind(official)
group = tools.group(category="x")
NAME = "named"
FIRST, SECOND = "a", "b"
CIRCLE = CIRCLE


class Names:
    ONE = "one"
    TWO = NAME


class Own(FastMCP): ...


class OwnFastMCP(FastMCP): ...


def a(): ...


own = OwnFastMCP("c")
"""


def found(code: str) -> list[tuple[str | None, str]]:
    module = read_module("server.py", HEAD + code)
    return [(definition.name, definition.framework) for definition in find_definitions(module)]


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("@official.tool()\ndef b(): ...", ("b", "official")),
        ("@official.tool('c')\nasync def b(): ...", ("c", "official")),
        ("@official.tool(name=NAME)\ndef b(): ...", ("named", "official")),
        ("@official.tool(name=Names.ONE)\ndef b(): ...", ("one", "official")),
        ("@official.tool(name=Names.TWO.value)\ndef b(): ...", ("named", "official")),
        ("@official.tool(name=f'{a}')\ndef b(): ...", (None, "official")),
        ("@official.tool(name=Names.SIX)\ndef b(): ...", (None, "official")),
        ("@official.tool(name=NAME.value)\ndef b(): ...", (None, "official")),
        ("@official.tool(name=CIRCLE)\ndef b(): ...", (None, "official")),
        ("@official.tool(name=FIRST)\ndef b(): ...", (None, "official")),
        ("@official.tool(name=1)\ndef b(): ...", (None, "official")),
        ("@fast.tool\ndef b(): ...", ("b", "fastmcp")),
        ("@own.tool\ndef b(): ...", ("b", "fastmcp")),
        ("@tool\ndef b(): ...", ("b", "fastmcp")),
        ("@fastmcp.FastMCP('x').tool\ndef b(): ...", ("b", "fastmcp")),
        ("@tools.tool(sayso.QUERY)\ndef b(): ...", ("b", "sayso")),
        ("@group.tool(sayso.QUERY, name='c')\ndef b(): ...", ("c", "sayso")),
        ("@tools.group(tags={'x'}).tool(sayso.QUERY)\ndef b(): ...", ("b", "sayso")),
        ("def make(given: Tools):\n    @given.tool()\n    def b(): ...", ("b", "sayso")),
        ("def make(mcp):\n    @mcp.tool()\n    def b(): ...", ("b", "fastmcp")),
        ("def make(jira_mcp):\n    @jira_mcp.tool()\n    def b(): ...", ("b", "fastmcp")),
        ("class S:\n    own: MCPServer = MCPServer('s')\n    own.tool()(a)", ("a", "official")),
        ("with MCPServer('s') as s:\n    s.tool('c')(a)", ("c", "official")),
        ("official.add_tool(a)", ("a", "official")),
        ("official.add_tool(a, name='c')", ("c", "official")),
        ("fast.add_tool(FastTool.from_function(a, name='c'))", ("c", "fastmcp")),
        ("FastTool.from_function(fn=a)", ("a", "fastmcp")),
        ("tools.add(name='c', intent=sayso.QUERY, execute=a)", ("c", "sayso")),
        ("ToolDefinition('c', sayso.QUERY, '', {}, None, a)", ("c", "sayso")),
        ("ToolDefinition(name='c', execute=a)", ("c", "sayso")),
        ("Tool(name='c')", ("c", "lowlevel")),
        ("types.Tool(name='c')", ("c", "lowlevel")),
        ("types.Tool(**{})", (None, "lowlevel")),
    ],
)
def test_every_form_is_found(code: str, expected: tuple[str | None, str]) -> None:
    assert found(code) == [expected]


@pytest.mark.parametrize(
    "code",
    [
        "@agent.tool\ndef b(): ...",
        "@a.b().tool()\ndef b(): ...",
        "@official.resource('x://y')\ndef b(): ...",
        "official.add_tool()",
        "official.add_tool(lambda: 1)",
        "fast.add_tool(make())",
        "box.add('x')",
        "official.add('x')",
        "typing.Tool(name='c')",
        "tool.tool.Tool",
    ],
)
def test_what_defines_none_is_left_alone(code: str) -> None:
    assert found(code) == []


def test_without_fastmcp_a_server_from_elsewhere_is_the_official_one() -> None:
    module = read_module("server.py", "from shop import server\n@server.tool()\ndef b(): ...\n")

    assert [definition.framework for definition in find_definitions(module)] == ["official"]


def test_an_annotation_may_be_a_text() -> None:
    code = HEAD + 'def declare(mine: "Tools") -> None:\n    mine.tool(sayso.READ_ONLY)(a)\n'
    found = find_definitions(read_module("server.py", code))
    assert [(one.name, one.framework) for one in found] == [("a", "sayso")]
    broken = HEAD + 'def declare(mine: "no type (") -> None:\n    mine.tool(sayso.READ_ONLY)(a)\n'
    assert find_definitions(read_module("server.py", broken)) == []
