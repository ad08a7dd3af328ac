"""`asking.py [old]`: a server that asks its client in each way there is, in either era.

It asks live in the handshake eras, and by a result that wants the call made again since then.
"""

import sys
from collections.abc import Mapping
from typing import Any

import anyio
import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError
from mcp.shared.message import ServerMessageMetadata
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

Context = ServerRequestContext[Any, Any]
Answers = Mapping[str, Any]

READS = types.ToolAnnotations(read_only_hint=True, open_world_hint=False)
DESTROYS = types.ToolAnnotations(read_only_hint=False, destructive_hint=True)

FORM: dict[str, Any] = {
    "message": "What is your name?",
    "requestedSchema": {
        "type": "object",
        "properties": {"name": {"type": "string"}},
        "required": ["name"],
    },
}
PAGE: dict[str, Any] = {
    "mode": "url",
    "message": "Sign in.",
    "url": "https://example.com/sign-in",
    "elicitationId": "e-1",
}
SAMPLE: dict[str, Any] = {
    "messages": [{"role": "user", "content": {"type": "text", "text": "Say hello."}}],
    "maxTokens": 10,
    "includeContext": "allServers",
}

ASKED: dict[str, list[tuple[str, dict[str, Any] | None]]] = {
    "ask_name": [("elicitation/create", FORM)],
    "ask_page": [("elicitation/create", PAGE)],
    "ask_model": [("sampling/createMessage", SAMPLE)],
    "ask_roots": [("roots/list", None)],
    "ask_twice": [("elicitation/create", FORM), ("roots/list", None)],
    "delete_after_asking": [("elicitation/create", FORM)],
    "ask_prompt": [("elicitation/create", FORM)],
    "asked://name": [("elicitation/create", FORM)],
}
"""What each tool, prompt and resource asks, one after the other."""

REQUESTS = types.server_request_adapter
RESULTS: dict[str, Any] = {
    "elicitation/create": types.ElicitResult,
    "sampling/createMessage": types.CreateMessageResult,
    "roots/list": types.ListRootsResult,
}


def build(*, is_old: bool) -> Server[Any]:
    """The server; an old one knows no `server/discover`. It counts what it has carried out."""
    carried_out: list[str] = []

    async def call(ctx: Context, params: types.CallToolRequestParams) -> Any:
        if params.name == "count":
            return _text(" ".join(carried_out))
        if params.name == "hang":
            await begin(ctx, params)
            await anyio.sleep(60)
        answers = await asked(ctx, params.name, params)
        if isinstance(answers, types.InputRequiredResult):
            return answers
        carried_out.append(params.name)
        return _text(" ".join(answers))

    async def get(ctx: Context, params: types.GetPromptRequestParams) -> Any:
        answers = await asked(ctx, params.name, params)
        if isinstance(answers, types.InputRequiredResult):
            return answers
        said = types.TextContent(text=" ".join(answers))
        return types.GetPromptResult(messages=[types.PromptMessage(role="user", content=said)])

    async def read(ctx: Context, params: types.ReadResourceRequestParams) -> Any:
        answers = await asked(ctx, params.uri, params)
        if isinstance(answers, types.InputRequiredResult):
            return answers
        said = types.TextResourceContents(uri=params.uri, text=" ".join(answers))
        return types.ReadResourceResult(contents=[said])

    server: Server[Any] = Server(
        "asking",
        on_list_tools=tools,
        on_call_tool=call,
        on_list_prompts=prompts,
        on_get_prompt=get,
        on_list_resources=resources,
        on_read_resource=read,
        get_tool_input_schema=lambda _: {"type": "object"},
    )
    if is_old:
        server.middleware.append(refuse_discover)
    return server


async def begin(ctx: Context, params: types.CallToolRequestParams) -> None:
    """Tell that the call has arrived."""
    told = {"progressToken": (params.meta or {}).get("progress_token"), "progress": 1}
    notification = types.ProgressNotification.model_validate({"params": told})
    await ctx.session.send_notification(notification, ctx.request_id)


async def asked(ctx: Context, name: str, params: Any) -> list[str] | types.InputRequiredResult:
    """Return the client's answer, or the result that asks it."""
    if name == "ask_impatiently":
        with anyio.move_on_after(0.2):
            await asked(ctx, "ask_name", params)
        return ["went on"]
    questions = ASKED.get(name, [])
    if ctx.protocol_version in HANDSHAKE_PROTOCOL_VERSIONS:
        return [await ask(ctx, method, given) for method, given in questions]
    given: Mapping[str, Any] = params.input_responses or {}
    before = params.request_state.split("|")[1:] if params.request_state else []
    before += [_said(_dumped(one)) for one in given.values()]
    if len(before) == len(questions):
        return before
    method, wanted = questions[len(before)]
    return types.InputRequiredResult.model_validate(
        {
            "inputRequests": {"io.sayso/approval": {"method": method, "params": wanted or {}}},
            "requestState": "|".join(["upstream", *before]),
        }
    )


async def ask(ctx: Context, method: str, params: dict[str, Any] | None) -> str:
    """Ask live, on the stream of the request."""
    body: dict[str, Any] = {"method": method}
    request = REQUESTS.validate_python(body if params is None else {**body, "params": params})
    where = ServerMessageMetadata(related_request_id=ctx.request_id)
    try:
        result = await ctx.session.send_request(request, RESULTS[method], metadata=where)
    except MCPError as error:
        return f"refused: {error}"
    return _said(_dumped(result))


def _dumped(result: Any) -> dict[str, Any]:
    return result.model_dump(mode="json", by_alias=True, exclude_none=True)


def _said(answer: Answers) -> str:
    """An answer in a few words."""
    if "action" in answer:
        return f"{answer['action']}:{(answer.get('content') or {}).get('name', '')}"
    if "roots" in answer:
        return ",".join(one["uri"] for one in answer["roots"])
    return answer["content"]["text"]


def _text(text: str) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(text=text)])


async def tools(_ctx: Context, _params: Any) -> types.ListToolsResult:
    names = [name for name in ASKED if name.startswith(("ask_", "delete_"))]
    return types.ListToolsResult(
        tools=[
            types.Tool(
                name=name,
                input_schema={"type": "object"},
                annotations=DESTROYS if name.startswith("delete_") else READS,
            )
            for name in [*names, "ask_impatiently", "count", "hang"]
        ]
    )


async def prompts(_ctx: Context, _params: Any) -> types.ListPromptsResult:
    return types.ListPromptsResult(prompts=[types.Prompt(name="ask_prompt")])


async def resources(_ctx: Context, _params: Any) -> types.ListResourcesResult:
    return types.ListResourcesResult(resources=[types.Resource(name="name", uri="asked://name")])


async def refuse_discover(ctx: Any, call_next: Any) -> Any:
    if ctx.method == "server/discover":
        raise MCPError(types.METHOD_NOT_FOUND, "Method not found")
    return await call_next(ctx)


async def main() -> None:
    server = build(is_old="old" in sys.argv)
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


if __name__ == "__main__":
    anyio.run(main)
