"""`telling.py [old]`: a server whose tools, prompts and resources change, and that logs.

The text of a resource names its process, and the tool `link` answers with a link to it.
"""

import os
import sys
from typing import Any

import anyio
import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler
from mcp.shared.subscriptions import ResourceUpdated, ToolsListChanged
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from tests.connect.servers.asking import refuse_discover

Context = ServerRequestContext[Any, Any]

LOG_LEVEL = "io.modelcontextprotocol/logLevel"
LEVELS = ["debug", "info", "warning", "error"]


class Telling:
    """The current state, and its listeners."""

    def __init__(self) -> None:
        self.names = ["grow", "touch", "say", "asked_for", "link"]
        self.followed: list[str] = []
        self.levels: list[str] = []
        self.bus = InMemorySubscriptionBus()

    async def tools(self, _ctx: Context, _params: Any) -> types.ListToolsResult:
        reads = types.ToolAnnotations(read_only_hint=True, open_world_hint=False)
        return types.ListToolsResult(
            tools=[
                types.Tool(name=one, input_schema={"type": "object"}, annotations=reads)
                for one in self.names
            ]
        )

    async def call(self, ctx: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        said = "done"
        match params.name:
            case "link":
                uri = (params.arguments or {})["uri"]
                inside = types.TextResourceContents(uri=uri, text="inside")
                return types.CallToolResult(
                    content=[
                        types.ResourceLink(name="a link", uri=uri),
                        types.EmbeddedResource(resource=inside),
                    ]
                )
            case "grow":
                self.names.append(f"grown_{len(self.names)}")
                await self.tell(ctx, types.ToolListChangedNotification(), ToolsListChanged())
            case "touch":
                await self.touch(ctx, (params.arguments or {})["uri"])
            case "say":
                for level in LEVELS:
                    await say(ctx, params, level)
            case _:
                said = " ".join([*self.followed, *self.levels])
        return types.CallToolResult(content=[types.TextContent(text=said)])

    async def touch(self, ctx: Context, uri: str) -> None:
        updated = types.ResourceUpdatedNotification.model_validate({"params": {"uri": uri}})
        if ctx.protocol_version not in HANDSHAKE_PROTOCOL_VERSIONS or uri in self.followed:
            await self.tell(ctx, updated, ResourceUpdated(uri=uri))

    async def tell(self, ctx: Context, notification: Any, event: Any) -> None:
        if ctx.protocol_version in HANDSHAKE_PROTOCOL_VERSIONS:
            await ctx.session.send_notification(notification)
        await self.bus.publish(event)

    async def resources(self, _ctx: Context, _params: Any) -> types.ListResourcesResult:
        found = [types.Resource(name=one, uri=f"notes://{one}") for one in ("a", "b")]
        return types.ListResourcesResult(resources=found)

    async def templates(self, _ctx: Context, _params: Any) -> types.ListResourceTemplatesResult:
        found = types.ResourceTemplate(name="any", uri_template="notes://of/{id}")
        return types.ListResourceTemplatesResult(resource_templates=[found])

    async def read(
        self, _ctx: Context, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        text = f"{os.getpid()} {params.uri}"
        contents = types.TextResourceContents(uri=params.uri, text=text)
        return types.ReadResourceResult(contents=[contents])

    async def complete(self, _ctx: Context, params: types.CompleteRequestParams) -> Any:
        said = f"{os.getpid()} {getattr(params.ref, 'uri', '')}"
        return types.CompleteResult(completion=types.Completion(values=[said]))

    async def prompt(self, _ctx: Context, _params: Any) -> types.GetPromptResult:
        link = types.ResourceLink(name="a link", uri="notes://a")
        return types.GetPromptResult(messages=[types.PromptMessage(role="user", content=link)])

    async def prompts(self, _ctx: Context, _params: Any) -> types.ListPromptsResult:
        return types.ListPromptsResult(prompts=[types.Prompt(name="linked")])

    async def follow(self, _ctx: Context, params: types.SubscribeRequestParams) -> Any:
        self.followed.append(params.uri)
        return types.EmptyResult()

    async def unfollow(self, _ctx: Context, params: types.UnsubscribeRequestParams) -> Any:
        self.followed.remove(params.uri)
        return types.EmptyResult()

    async def set_level(self, _ctx: Context, params: types.SetLevelRequestParams) -> Any:
        self.levels.append(params.level)
        return types.EmptyResult()


async def say(ctx: Context, params: types.CallToolRequestParams, level: str) -> None:
    """Log one line, since 2026-07-28 only where the call wants it."""
    if ctx.protocol_version not in HANDSHAKE_PROTOCOL_VERSIONS:
        wanted = dict(params.meta or {}).get(LOG_LEVEL)
        if wanted is None or LEVELS.index(level) < LEVELS.index(str(wanted)):
            return
    told = {"params": {"level": level, "data": f"a {level}"}}
    notification = types.LoggingMessageNotification.model_validate(told)
    await ctx.session.send_notification(notification, ctx.request_id)


def build(*, is_old: bool) -> Server[Any]:
    """The server; an old one knows no `server/discover`."""
    telling = Telling()
    server: Server[Any] = Server(
        "telling",
        on_list_tools=telling.tools,
        on_call_tool=telling.call,
        on_list_resources=telling.resources,
        on_list_resource_templates=telling.templates,
        on_read_resource=telling.read,
        on_completion=telling.complete,
        on_list_prompts=telling.prompts,
        on_get_prompt=telling.prompt,
        on_subscribe_resource=telling.follow,
        on_unsubscribe_resource=telling.unfollow,
        on_subscriptions_listen=ListenHandler(telling.bus),
        get_tool_input_schema=lambda _: {"type": "object"},
    )
    server.add_request_handler("logging/setLevel", types.SetLevelRequestParams, telling.set_level)
    if is_old:
        server.middleware.append(refuse_discover)
    return server


async def main() -> None:
    server = build(is_old="old" in sys.argv)
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


if __name__ == "__main__":
    anyio.run(main)
