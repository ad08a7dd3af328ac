"""The SDK's client for Python, and FastMCP's, which stands on it."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import anyio
import fastmcp
import mcp_types as types
from anyio.abc import TaskGroup, TaskStatus
from fastmcp.client.transports import StdioTransport
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.session import ClientSession
from mcp.client.subscriptions import listen
from mcp.shared.subscriptions import event_to_notification
from tests.conformance.script import Step

Answers = dict[str, Any]
Where = str | Sequence[str]
"""The URL of a server, or its command."""

LISTEN_SECONDS = 0.5
CANCEL_SECONDS = 0.3


@dataclass
class Ears:
    """What the server has said unasked, and what it has asked."""

    heard: set[str] = field(default_factory=set[str])
    asked: list[Any] = field(default_factory=list[Any])
    progress: list[Any] = field(default_factory=list[Any])

    def begin(self) -> None:
        """A step begins."""
        self.heard.clear()
        self.asked.clear()
        self.progress.clear()

    def said(self) -> dict[str, Any]:
        """What came beside the answer."""
        both = {"asked": [*self.asked], "progress": [*self.progress]}
        return {name: one for name, one in both.items() if one}

    async def waits_for(self, method: str) -> bool:
        """Whether the server tells this soon."""
        with anyio.move_on_after(LISTEN_SECONDS):
            while method not in self.heard:
                await anyio.sleep(0.01)
        return method in self.heard

    def watch(self, step: Step) -> Any:
        """What is told how far a step has come, if it wants to know."""

        async def tell(done: float, total: float | None, text: str | None) -> None:
            self.progress.append([done, total, text])

        return tell if step.is_told else None

    async def hear(self, message: Any) -> None:
        self.heard.add(getattr(message, "method", type(message).__name__))

    async def sample(self, context: Any, params: Any) -> types.CreateMessageResult:
        del context
        self.asked.append(_plain(params))
        text = types.TextContent(type="text", text="hello")
        return types.CreateMessageResult(role="assistant", content=text, model="m")

    async def elicit(self, context: Any, params: Any) -> types.ElicitResult:
        del context
        self.asked.append(_plain(params))
        is_form = getattr(params, "mode", "form") == "form"
        content: Any = {"name": "Amy", "check": True} if is_form else None
        return types.ElicitResult(action="accept", content=content)

    async def list_roots(self, context: Any) -> types.ListRootsResult:
        del context
        root = types.Root.model_validate({"uri": "file:///tmp/a", "name": "a"})
        return types.ListRootsResult(roots=[root])


Speak = Callable[[Where, str, Sequence[Step]], Awaitable[Answers]]


async def speak_sdk(where: Where, era: str, steps: Sequence[Step]) -> Answers:
    """What the SDK's client is answered."""
    ears = Ears()
    client = Client(
        where
        if isinstance(where, str)
        else StdioServerParameters(command=where[0], args=[*where[1:]]),
        mode=_mode(era),
        log_level="debug",
        sampling_callback=ears.sample,
        elicitation_callback=ears.elicit,
        list_roots_callback=ears.list_roots,
        message_handler=ears.hear,
    )
    async with client:
        routes: Routes = {
            "tools/list": lambda _: client.list_tools(),
            "prompts/list": lambda _: client.list_prompts(),
            "resources/list": lambda _: client.list_resources(),
            "resources/templates/list": lambda _: client.list_resource_templates(),
            "tools/call": lambda step: client.call_tool(
                step.params["name"], step.params["arguments"], 10, ears.watch(step)
            ),
            "prompts/get": lambda step: client.get_prompt(**step.params),
            "resources/read": lambda step: client.read_resource(step.params["uri"]),
            **_plain_routes(client.session),
        }
        return await _walk(routes, client.session, steps, ears)


async def speak_fastmcp(where: Where, era: str, steps: Sequence[Step]) -> Answers:
    """What FastMCP's client is answered."""
    ears = Ears()

    async def sample(_: Any, params: Any, __: Any) -> Any:
        return await ears.sample(None, params)

    async def elicit(_: str, __: Any, params: Any, ___: Any) -> Any:
        return await ears.elicit(None, params)

    client = fastmcp.Client(
        where if isinstance(where, str) else StdioTransport(where[0], [*where[1:]]),
        mode=_mode(era),
        message_handler=ears.hear,
        roots=["file:///tmp/a"],
        sampling_handler=sample,
        elicitation_handler=elicit,
    )
    async with client:
        routes: Routes = {
            "tools/list": lambda _: client.list_tools_mcp(),
            "prompts/list": lambda _: client.list_prompts_mcp(),
            "resources/list": lambda _: client.list_resources_mcp(),
            "resources/templates/list": lambda _: client.list_resource_templates_mcp(),
            "tools/call": lambda step: client.call_tool_mcp(
                step.params["name"], step.params["arguments"], ears.watch(step), 10
            ),
            "prompts/get": lambda step: client.get_prompt_mcp(**step.params),
            "resources/read": lambda step: client.read_resource_mcp(step.params["uri"]),
            **_plain_routes(client.session),
        }
        return await _walk(routes, client.session, steps, ears)


Routes = dict[str, Callable[[Step], Awaitable[Any]]]


def _mode(era: str) -> Any:
    """A version that is pinned is taken on trust; what is found by asking is compared too."""
    return era if era == "legacy" else "auto"


def _plain_routes(session: ClientSession) -> Routes:
    """Methods for which both clients go through the session."""

    def complete(step: Step) -> Awaitable[Any]:
        ref: Any = step.params["ref"]
        kind = types.PromptReference if "name" in ref else types.ResourceTemplateReference
        known = step.params.get("context", {}).get("arguments")
        return session.complete(kind(**ref), step.params["argument"], known)

    return {
        "ping": lambda _: session.send_ping(),
        "completion/complete": complete,
        "logging/setLevel": lambda step: session.set_logging_level(  # pyright: ignore[reportDeprecated]
            step.params["level"]
        ),
        "resources/subscribe": lambda step: session.subscribe_resource(  # pyright: ignore[reportDeprecated]
            step.params["uri"]
        ),
        "resources/unsubscribe": lambda step: session.unsubscribe_resource(  # pyright: ignore[reportDeprecated]
            step.params["uri"]
        ),
    }


@dataclass
class _Listening:
    """How a client of 2026-07-28 hears of changes: on streams that it asks for."""

    session: ClientSession
    ears: Ears
    group: TaskGroup
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)

    async def begin(self) -> None:
        """Hear what a client of an older version hears unasked."""
        await self.group.start(self._hear, anyio.CancelScope())

    async def follow(self, step: Step) -> types.EmptyResult:
        await self.group.start(self._hear, self.scope, step.params["uri"])
        return types.EmptyResult()

    async def leave(self, step: Step) -> types.EmptyResult:
        del step
        self.scope.cancel()
        return types.EmptyResult()

    async def _hear(
        self, scope: anyio.CancelScope, *uris: str, task_status: TaskStatus[None]
    ) -> None:
        opening = listen(self.session, resources_list_changed=not uris, resource_subscriptions=uris)
        with scope:
            async with opening as events:
                task_status.started()
                async for one in events:
                    await self.ears.hear(event_to_notification(one, {}))


async def _walk(
    routes: Routes, session: ClientSession, steps: Sequence[Step], ears: Ears
) -> Answers:
    async with anyio.create_task_group() as group:
        if session.discover_result is not None:
            listening = _Listening(session, ears, group)
            await listening.begin()
            routes["resources/subscribe"] = listening.follow
            routes["resources/unsubscribe"] = listening.leave
        answers = await _answers(routes, session, steps, ears)
        group.cancel_scope.cancel()
        return answers
    raise AssertionError


async def _answers(
    routes: Routes, session: ClientSession, steps: Sequence[Step], ears: Ears
) -> Answers:
    answers: Answers = {
        "hello": {
            "version": session.protocol_version,
            "server": _plain(session.server_info),
            "capabilities": _plain(session.server_capabilities),
            "instructions": session.instructions,
        }
    }
    for step in steps:
        ears.begin()
        answer = await _answer(routes[step.method](step), step)
        if step.until is not None:
            answer["heard"] = await ears.waits_for(step.until)
        answers[step.name] = answer | ears.said()
    return answers


async def _answer(coming: Awaitable[Any], step: Step) -> dict[str, Any]:
    """The answer to one request; to one that is cancelled there is none."""
    if step.is_cancelled:
        with anyio.move_on_after(CANCEL_SECONDS) as scope:
            await coming
        return {"cancelled": scope.cancelled_caught}
    try:
        return {"result": _plain(await coming)}
    except MCPError as error:
        said = error.error
        return {"error": {"code": said.code, "message": said.message, "data": said.data}}
    except Exception as error:  # noqa: BLE001 - what a client makes of an answer is an answer
        return {"raised": f"{type(error).__name__}: {error}"}


def _plain(found: Any) -> Any:
    """As JSON, without what only one version has."""
    if found is None:
        return None
    return found.model_dump(mode="json", by_alias=True, exclude_none=True)
