"""A bound server offers nothing while its policy switches it or its caller off."""

from typing import Any

import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from tests.serve.serving import ERAS, inside, make, text

import sayso
from sayso.policy import LOCAL, Policy, Principal, load_policy

pytestmark = pytest.mark.anyio

OFF = {
    "server": load_policy('mode = "observe"\n[off]\nservers = ["studio"]'),
    "caller": load_policy('mode = "observe"\n[off]\nsubjects = ["local"]'),
}


def ask_it() -> str:
    return "the prompt's text"


def it() -> str:
    return "the resource's text"


def bound(kind: str, policy: Policy) -> Any:
    """A server with a tool, a prompt and a resource."""
    server = make(kind)
    server.prompt()(ask_it)
    server.resource("studio://it")(it)
    tools = sayso.bind(server, policy=policy, principal=Principal(LOCAL), store="temporary")
    tools.tool(sayso.READ_ONLY, name="get_it")(lambda: "the tool's text")
    return inside(server)


def requests(client: Client) -> list[Any]:
    """Every request that is not about tools, ready to be made."""
    return [
        client.list_prompts,
        lambda: client.get_prompt("ask_it"),
        client.list_resources,
        client.list_resource_templates,
        lambda: client.read_resource("studio://it"),
    ]


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("kind", ["MCPServer", "FastMCP"])
async def test_a_bound_server_answers_every_request_while_it_is_on(kind: str, era: str) -> None:
    async with Client(bound(kind, Policy()), mode=era) as client:
        for request in requests(client):
            await request()
        assert text(await client.call_tool("get_it")) == "the tool's text"


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("kind", ["MCPServer", "FastMCP"])
async def test_a_bound_server_answers_no_request_while_it_is_switched_off(
    kind: str, era: str
) -> None:
    async with Client(bound(kind, OFF["server"]), mode=era) as client:
        assert (await client.list_tools()).tools == []
        for request in requests(client):
            with pytest.raises(MCPError, match="switches off"):
                await request()
        with pytest.raises(MCPError, match="Unknown tool"):
            await client.call_tool("get_it")


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("kind", ["MCPServer", "FastMCP"])
async def test_a_bound_server_lets_no_caller_in_that_is_switched_off(kind: str, era: str) -> None:
    async with Client(bound(kind, OFF["caller"]), mode=era) as client:
        assert (await client.list_tools()).tools == []
        for request in requests(client):
            with pytest.raises(MCPError, match="switches off"):
                await request()
        assert "switches this caller off" in text(await client.call_tool("get_it"))
