"""The reference server from npm, behind the gateway and without it: the same, but for names."""

import shutil
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest
from mcp import Client, StdioServerParameters
from tests.connect.serving import until
from tests.gateway.asking import ROOT, Person
from tests.gateway.serving import ERAS, Served, serve
from tests.gateway.test_main_job import text

from sayso.connect import CommandTarget
from sayso.policy import load_policy

pytestmark = pytest.mark.anyio

PROGRAM = (
    Path(__file__).parents[1]
    / "npm/node_modules/@modelcontextprotocol/server-everything/dist/index.js"
)
needs_npm = pytest.mark.skipif(
    shutil.which("node") is None or not PROGRAM.exists(),
    reason="needs node, and the server that `make setup` installs from npm",
)
WATCHING = load_policy('mode = "observe"')
PAGE = {"url": "https://example.com/in", "message": "Sign in.", "elicitationId": "e-1"}


@pytest.fixture(scope="module")
async def served(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Served]:
    target = CommandTarget("all", "node", (str(PROGRAM), "stdio"))
    store = tmp_path_factory.mktemp("store") / "sayso.db"
    async with serve(target, store=store, policy=lambda: WATCHING) as served:
        yield served


@pytest.fixture(params=ERAS)
def era(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
async def stack() -> AsyncGenerator[AsyncExitStack]:
    async with AsyncExitStack() as stack:
        yield stack


@pytest.fixture
async def client(served: Served, era: str, stack: AsyncExitStack) -> Client:
    return await stack.enter_async_context(Person().client(served.url, era))


@pytest.fixture
async def direct(stack: AsyncExitStack) -> Client:
    parameters: Any = StdioServerParameters(command="node", args=[str(PROGRAM), "stdio"])
    return await stack.enter_async_context(Person().client(parameters, "auto"))


def plain(value: Any) -> Any:
    """A result without what an era puts around it."""
    dumped = value.model_dump(mode="json", by_alias=True, exclude_none=True)
    around = ("_meta", "resultType", "ttlMs", "cacheScope")
    return {key: one for key, one in dumped.items() if key not in around}


@needs_npm
async def test_it_lists_the_same_tools_prompts_and_resources(
    client: Client, direct: Client
) -> None:
    tools = {one.name for one in (await direct.list_tools()).tools}
    prompts = {one.name for one in (await direct.list_prompts()).prompts}

    assert {one.name for one in (await client.list_tools()).tools} == {f"all__{x}" for x in tools}
    assert {one.name for one in (await client.list_prompts()).prompts} == {
        f"all__{one}" for one in prompts
    }
    assert plain(await client.list_resources()) == plain(await direct.list_resources())
    assert plain(await client.list_resource_templates()) == plain(
        await direct.list_resource_templates()
    )


@needs_npm
@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("echo", {"message": "grüße"}),
        ("get-sum", {"a": 1, "b": 2}),
        ("get-annotated-message", {"messageType": "error", "includeImage": True}),
        ("get-resource-links", {"count": 3}),
        ("get-resource-reference", {"resourceType": "Text", "resourceId": 1}),
        ("get-structured-content", {"location": "Chicago"}),
        ("get-tiny-image", {}),
        ("trigger-elicitation-request", {}),
        ("trigger-url-elicitation", PAGE),
        ("trigger-sampling-request", {"prompt": "Say hello.", "maxTokens": 10}),
    ],
)
async def test_it_answers_as_it_does_without_the_gateway(
    client: Client, direct: Client, tool: str, arguments: dict[str, Any]
) -> None:
    through = plain(await client.call_tool(f"all__{tool}", arguments))
    without = plain(await direct.call_tool(tool, arguments))

    assert untimed(through) == untimed(without)


def untimed(result: dict[str, Any]) -> str:
    """A result without what is another with every call, and `isError` where it says no."""
    lines = str({key: one for key, one in result.items() if one is not False}).split("\\n")
    return "\n".join(line for line in lines if "created at" not in line)


@needs_npm
async def test_its_roots_are_asked_of_a_client_that_calls(client: Client) -> None:
    """It asks outside of a call and is refused, and then asks during a call."""
    result = await client.call_tool("all__get-roots-list")

    assert ROOT in text(result)


@needs_npm
async def test_its_progress_arrives(client: Client) -> None:
    told: list[float] = []

    async def told_of(progress: float, total: float | None, message: str | None) -> None:  # noqa: ARG001 - as the SDK calls it
        told.append(progress)

    arguments = {"duration": 0.2, "steps": 2}
    result = await client.call_tool(
        "all__trigger-long-running-operation", arguments, progress_callback=told_of
    )

    assert "completed" in text(result)
    assert told == [1.0, 2.0]


@needs_npm
async def test_its_resources_are_followed(served: Served, stack: AsyncExitStack) -> None:
    heard: list[Any] = []

    async def hear(message: Any) -> None:
        heard.append(message)

    client = await stack.enter_async_context(
        Client(served.url, mode="legacy", message_handler=hear)
    )
    uri = "demo://resource/dynamic/text/1"
    params = types.SubscribeRequestParams(uri=uri)
    session: Any = client.session
    await session.send_request(types.SubscribeRequest(params=params), types.EmptyResult)
    await client.call_tool("all__toggle-subscriber-updates")
    await until(lambda: any(isinstance(x, types.ResourceUpdatedNotification) for x in heard), 15)
    await client.call_tool("all__toggle-subscriber-updates")

    found = [one for one in heard if isinstance(one, types.ResourceUpdatedNotification)]
    assert {one.params.uri for one in found} == {uri}
