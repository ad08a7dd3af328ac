"""Every server in the documentation runs: on both frameworks, over each way, in both eras."""

from pathlib import Path

import pytest
from mcp import Client
from mcp_server_git.server import create_server
from mcp_types import TextContent
from tests.serve.examples import Example, answer_of, connected, find_examples
from tests.warm import Warm

import sayso

pytestmark = pytest.mark.anyio

EXAMPLES = find_examples(
    "docs/start/server.md", "docs/guides/servers.md", "docs/guides/results-and-plans.md"
)


@pytest.mark.parametrize("era", ["legacy", "2026-07-28"])
@pytest.mark.parametrize("transport", ["memory", "stdio", "http"])
@pytest.mark.parametrize("framework", ["MCPServer", "FastMCP"])
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda one: one.name)
async def test_a_server_of_the_documentation_answers_as_it_says(
    example: Example, framework: str, transport: str, era: str, tmp_path: Path, frameworks: Warm
) -> None:
    async with connected(example.on(framework), transport, era, tmp_path, frameworks) as client:
        for said in example.calls:
            assert said.words in await answer_of(client, said), said


async def test_a_server_of_others_is_guarded_once_it_is_bound() -> None:
    server = create_server(None)
    sayso.bind(server, principal=sayso.Principal("me"), store="temporary")
    async with Client(server) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        annotations = tools["git_reset"].annotations
        assert annotations is not None
        assert annotations.destructive_hint
        result = await client.call_tool("git_reset", {"repo_path": "."})
    (content,) = result.content
    assert isinstance(content, TextContent)
    assert content.text.startswith("Policy does not allow this call")
