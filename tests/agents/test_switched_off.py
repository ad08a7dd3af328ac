"""A wrapped client gets nothing of a server that its policy switches off, nor while it is off."""

from typing import Any

import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from tests.agents.serving import events, text

import sayso
from sayso.policy import Policy, load_policy

pytestmark = pytest.mark.anyio

OFF = {
    "server": load_policy('mode = "observe"\n[off]\nservers = ["sayso-demo"]'),
    "caller": load_policy('mode = "observe"\n[off]\nsubjects = ["local"]'),
}


def requests(client: Any) -> list[Any]:
    """Every request of the client that is not about tools, ready to be made."""
    return [
        client.list_prompts,
        lambda: client.get_prompt("anything"),
        client.list_resources,
        client.list_resource_templates,
        lambda: client.read_resource("studio://anything"),
        lambda: client.subscribe_resource("studio://anything"),
        lambda: client.set_logging_level("debug"),
        client.send_ping,
    ]


@pytest.mark.parametrize("what", OFF)
async def test_a_wrapped_client_makes_no_request_of_what_is_switched_off(
    client: Client, url: str, what: str
) -> None:
    async with sayso.wrap(client, policy=OFF[what], audit=url) as guarded:
        assert (await guarded.list_tools()).tools == []
        for request in requests(guarded):
            with pytest.raises(MCPError, match="switches off"):
                await request()
        if what == "server":
            with pytest.raises(MCPError, match="Unknown tool"):
                await guarded.call_tool("customers_list", {})
        else:
            said = text(await guarded.call_tool("customers_list", {}))
            assert "switches this caller off" in said
    assert await events(url) == [("refused", "denied")]


async def test_a_wrapped_client_makes_all_requests_of_what_is_on(client: Client, url: str) -> None:
    async with sayso.wrap(client, policy=Policy(), audit=url) as guarded:
        assert (await guarded.list_prompts()).prompts
        assert (await guarded.list_resources()).resources


@pytest.mark.parametrize("what", OFF)
async def test_an_agent_is_given_no_tool_of_what_is_switched_off(
    client: Client, url: str, what: str
) -> None:
    async with sayso.wrap(client, policy=OFF[what], audit=url) as guarded:
        assert await sayso.Toolset(guarded).tools() == {}
