"""The dispatcher, which answers one request of one client over any transport."""

import asyncio
import logging
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, cast

from sayso.approvals import MODES_SINCE, Elicit, Rounds, modes_of
from sayso.audit import Outcome
from sayso.catalog import Tool
from sayso.connect import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    MODERN,
    RESOURCE_NOT_FOUND,
    Message,
    RpcError,
    read_object,
    write_error,
    write_result,
)
from sayso.errors import StoreError
from sayso.gateway.frontends.client import META, Client, Line, caller_of
from sayso.gateway.introduction import GATEWAY_INFO, Introduction, info_of, introduce
from sayso.gateway.listening import SUBSCRIPTION
from sayso.gateway.request import Request
from sayso.gateway.router import Route, Router
from sayso.gateway.search import HOW
from sayso.gateway.tasks import TASKS
from sayso.gateway.versions import known_fields, translate
from sayso.guard import Progress, UnknownToolError, no_progress
from sayso.incidents import describe_incident, report_incident
from sayso.policy import Principal
from sayso.slices import LARGE_BYTES, rest_since
from sayso.telemetry import Asked, Watch

_log: Final = logging.getLogger(__name__)

INSTRUCTIONS: Final = (
    "Calls that may destroy something wait until a person approves them outside this "
    "conversation. A tool error that says so is not a failure: tell the person, then make "
    "the same call again."
)
CAPABILITIES: Final[Mapping[str, Any]] = {
    "tools": {"listChanged": True},
    "prompts": {"listChanged": True},
    "resources": {"subscribe": True, "listChanged": True},
    "completions": {},
    "logging": {},
}
CANCELLED: Final = -32800
"""The error code of a request that its client has cancelled."""

SWITCHED_OFF: Final = "the policy of this gateway switches this caller off"

_FRESH: Final[Mapping[str, Any]] = {"ttlMs": 0, "cacheScope": "private"}
_SERVER_INFO: Final = f"{META}serverInfo"


class Response(NamedTuple):
    """A response, with its error code if it is an error."""

    body: bytes
    code: int | None = None


@dataclass(slots=True)
class Dispatcher:
    """A dispatcher of requests to the gateway's router. `watch` observes each request."""

    router: Router
    watch: Watch | None = None
    _routes: Mapping[str, Route] = field(init=False)

    def __post_init__(self) -> None:
        self._routes = self.router.routes

    @property
    def server_info(self) -> Mapping[str, Any]:
        """Return the `serverInfo` that each result contains since 2026-07-28."""
        router = self.router
        if router.alone is None:
            return GATEWAY_INFO
        return info_of(router.upstreams.owner(router.alone))

    async def introduce(self, principal: Principal) -> Introduction:
        """Return the gateway's introduction. Raises `RpcError` if the caller is switched off."""
        if not self.admits(principal):
            raise RpcError(INVALID_REQUEST, SWITCHED_OFF)
        router = self.router
        own = INSTRUCTIONS
        if router.search.is_on:
            own = f"{own} {HOW}"
        return await introduce(
            router.upstreams, router.guard, principal, own=own, alone=router.alone
        )

    def admits(self, principal: Principal) -> bool:
        return self.router.upstreams.switches.has_caller(principal.subject)

    async def record_refused(self, messages: Sequence[Message], principal: Principal) -> None:
        """Record the calls of a caller that is switched off. Raises `StoreError`."""
        for message in messages:
            if message.method == "tools/call" and message.id is not None:
                await self.router.guard.refuse(principal, _name_in(message), Outcome.DENIED)

    async def answer(
        self,
        message: Message,
        params: dict[str, Any],
        client: Client,
        line: Line,
        *,
        tool: Tool | None = None,
    ) -> Response:
        """Answer a request; `tool` is the called tool, if it was just found.

        Cancelling this cancels the request.
        """
        if self.watch is None:
            return await self._respond(message, params, client, line, tool)
        asked = _asked(message, params, client)
        with self.watch.request(asked):
            response = await self._respond(message, params, client, line, tool)
            asked.code = response.code
        return response

    async def _respond(
        self,
        message: Message,
        params: dict[str, Any],
        client: Client,
        line: Line,
        tool: Tool | None,
    ) -> Response:
        try:
            result = await self._result(message, params, client, line, tool)
            begun = time.perf_counter()
            body = write_result(message.id, result)
            if len(body) > LARGE_BYTES:
                await rest_since(begun)
            return Response(body)
        except UnknownToolError as error:
            return _error(message, INVALID_PARAMS, str(error))
        except RpcError as error:
            return _error(message, _code(client, error.code), error.message, error.data)
        except StoreError as error:
            _log.error("%s", error)
            return _error(message, INTERNAL_ERROR, "Nothing was run: sayso cannot write its log.")
        except asyncio.CancelledError:
            if not self.router.guard.shutdown.is_over:
                raise
            what = "sayso was stopped before it could answer: send the request again"
            return _error(message, INTERNAL_ERROR, what)
        except Exception as error:  # noqa: BLE001 - a client must not get internals
            return _error(message, INTERNAL_ERROR, describe_incident(report_incident(_log, error)))

    async def _result(
        self,
        message: Message,
        params: dict[str, Any],
        client: Client,
        line: Line,
        tool: Tool | None,
    ) -> Mapping[str, Any]:
        method = message.method or ""
        if not self.admits(client.principal):
            await self.record_refused([message], client.principal)
            raise RpcError(INVALID_REQUEST, SWITCHED_OFF)
        route = self._routes.get(method)
        if route is not None:
            request = Request(
                method=method,
                params=params,
                version=client.version,
                principal=client.principal,
                progress=_progress(params, line),
                elicit=_elicit(client, line),
                rounds=_rounds(params, client),
                caller=caller_of(client, line),
                listener=line.listener,
                id=message.id,
                client_name=client.name,
                tool=tool,
            )
            result = await route(request)
            result = translate(method, result, client.version)
            return _wrapped(method, result, client, self.server_info)
        if method == "server/discover" and client.is_modern:
            introduction = await self.introduce(client.principal)
            result = discovery(introduction.instructions)
            return _wrapped(method, result, client, introduction.server_info)
        if method == "ping" and not client.is_modern:
            return {}
        raise RpcError(METHOD_NOT_FOUND, "Method not found", method)


def _asked(message: Message, params: Mapping[str, Any], client: Client) -> Asked:
    method = message.method or ""
    meta: Mapping[str, Any] = params.get("_meta") or {}
    asked = Asked(method, message.id, client.version, client.session, meta)
    if method == "prompts/get" and isinstance(name := params.get("name"), str):
        asked.prompt = name
    return asked


def discovery(instructions: str) -> dict[str, Any]:
    """Return the result of `server/discover` (MCP 2026-07-28)."""
    return {
        "supportedVersions": [MODERN],
        "capabilities": {**CAPABILITIES, "extensions": {TASKS: {}}},
        "instructions": instructions,
    }


def greeting(version: str, introduction: Introduction) -> dict[str, Any]:
    """Return the gateway's answer to `initialize`."""
    return {
        "protocolVersion": version,
        "capabilities": CAPABILITIES,
        "serverInfo": known_fields("serverInfo", introduction.server_info, version),
        "instructions": introduction.instructions,
    }


def _progress(params: Mapping[str, Any], line: Line) -> Progress:
    """Return a progress callback; a no-op unless the request has a progressToken."""
    meta = params.get("_meta")
    if not meta or (token := meta.get("progressToken")) is None:
        return no_progress

    async def tell(done: float, total: float | None, text: str | None) -> None:
        progress: dict[str, Any] = {"progressToken": token, "progress": done}
        if total is not None:
            progress["total"] = total
        if text is not None:
            progress["message"] = text
        line.tell("notifications/progress", progress)
        await asyncio.sleep(0)

    return tell


def _elicit(client: Client, line: Line) -> Elicit | None:
    if client.is_modern or not (modes := _modes(client)):
        return None

    async def send(params: Mapping[str, Any]) -> Mapping[str, Any]:
        if client.version < MODES_SINCE:
            params = {key: value for key, value in params.items() if key != "mode"}
        return await line.ask("elicitation/create", params)

    async def complete(elicitation: str) -> None:
        await line.notify("notifications/elicitation/complete", {"elicitationId": elicitation})

    return Elicit(send, modes, complete)


def _rounds(params: Mapping[str, Any], client: Client) -> Rounds | None:
    """Return the `Rounds` that ask a client of 2026-07-28 in the answer to its call, or `None`."""
    if not client.is_modern or not (modes := _modes(client)):
        return None
    responses: Any = params.get("inputResponses")
    state = params.get("requestState")
    if responses is not None and not isinstance(responses, dict):
        responses = {}
    if not isinstance(state, str):
        state = None
    return Rounds(cast("dict[str, Any] | None", responses), state, modes)


def _modes(client: Client) -> frozenset[str]:
    return modes_of(client.capabilities.get("elicitation"), client.version)


def _name_in(message: Message) -> str:
    with suppress(ValueError):
        name = read_object(message.params).get("name")
        if isinstance(name, str):
            return name
    return ""


def _wrapped(
    method: str, result: Mapping[str, Any], client: Client, info: Mapping[str, Any]
) -> Mapping[str, Any]:
    """Return a result with the fields that 2026-07-28 requires; older clients get none of them."""
    # A server's protocol keys describe its connection to the gateway, so remove them.
    received: Mapping[str, Any] = result.get("_meta") or {}
    meta = {key: value for key, value in received.items() if not key.startswith(META)}
    if SUBSCRIPTION in received and method == "subscriptions/listen":
        meta[SUBSCRIPTION] = received[SUBSCRIPTION]
    if not client.is_modern:
        old = {key: value for key, value in result.items() if key not in ("resultType", "_meta")}
        if meta:
            old["_meta"] = meta
        return old
    meta[_SERVER_INFO] = info
    if method.endswith("/list") or method in ("resources/read", "server/discover"):
        return {"resultType": "complete", **_FRESH, **result, "_meta": meta}
    return {"resultType": "complete", **result, "_meta": meta}


def _error(message: Message, code: int, text: str, data: Any = None) -> Response:
    return Response(write_error(message.id, code, text, data), code)


def _code(client: Client, code: int) -> int:
    """Return the error code for the client; 2026-07-28 has no code for missing resources."""
    return INVALID_PARAMS if code == RESOURCE_NOT_FOUND and client.is_modern else code
