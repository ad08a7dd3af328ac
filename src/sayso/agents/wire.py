"""A connected client's requests as raw JSON. The only file that uses the SDK client's internals.

The client's own methods parse results into models, which drop unknown keys, accept `"true"` as
`true` and refuse an array as `structuredContent`. The session's dispatcher returns raw JSON.
"""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, cast

import anyio
import mcp_types as types
from mcp import Client
from mcp.client.extension import ClaimContext
from mcp.shared.exceptions import MCPError

from sayso.agents.exchange import as_object
from sayso.agents.restarting import Restarter
from sayso.connect import HANDSHAKE_VERSIONS, PARSE_ERROR, Envelope, Fault, RpcError
from sayso.errors import ServerExitedError
from sayso.guard import Answer, Call, Progress, without_own_meta

if TYPE_CHECKING:
    from collections.abc import Generator

    from mcp.client.session import MessageHandlerFnT
    from mcp.shared.dispatcher import CallOptions, ProgressFnT

# pyright: reportPrivateUsage=false

_COMPLETE: Final = "complete"

_UNANSWERED: Final = {
    types.CONNECTION_CLOSED: ("Connection closed", "SSE stream "),
    types.INTERNAL_ERROR: ("Server returned an error response",),
    types.INVALID_REQUEST: ("server answered a request with 202", "Unexpected content type: "),
    types.PARSE_ERROR: ("Failed to parse ",),
    types.REQUEST_TIMEOUT: ("Request ", "Timed out after "),
}
"""The first words of the SDK's errors for a missing answer, by code.

The code is not enough: servers send the same codes, such as `-32000 Server not initialized`.
"""


@dataclass(frozen=True, slots=True)
class SendOptions:
    """The options for sending one call. `timeout` is in seconds and applies to each request."""

    timeout: float | None = None
    has_progress: bool = False
    responses: types.InputResponses | None = None
    state: str | None = None


@dataclass(slots=True)
class Wire:
    """Requests over one connected client.

    With a `restarter`, a client whose process has died is replaced before the next request.
    `generation` counts the replacements.
    """

    client: Client
    restarter: Restarter | None = None
    generation: int = 0
    _lock: anyio.Lock = field(default_factory=anyio.Lock)
    _forget: Callable[[], None] | None = None

    @property
    def is_modern(self) -> bool:
        return self.client.protocol_version not in HANDSHAKE_VERSIONS

    async def request(
        self,
        method: str,
        params: Mapping[str, Any],
        *,
        timeout: float | None = None,
        progress: Progress | None = None,
        input_schema: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        """Send one request and return its result as received; `timeout` in seconds.

        The default `timeout` is the client's own. Cancelling this also cancels the request at the
        server. Raises `RpcError`.
        """
        await self.restart_if_closed()
        session = self.client.session
        own = dict(params)
        data: dict[str, Any] = {"method": method, "params": own}
        options: CallOptions = {}
        session._stamp(data, options)
        if self.is_modern:
            envelope = Envelope(self.client.protocol_version, {}, {})
            stamped = options.get("headers") or {}
            options["headers"] = stamped | envelope.headers(method, params, input_schema)
        seconds = self.client.read_timeout_seconds if timeout is None else timeout
        if seconds is not None:
            options["timeout"] = seconds
        if progress is not None:
            options["on_progress"] = cast("ProgressFnT", progress)  # the SDK calls by position
        if self._is_closed:
            what = "the client's connection is closed"
            raise RpcError(types.CONNECTION_CLOSED, what, fault=Fault.NOT_SENT)
        try:
            return await session._dispatcher.send_raw_request(method, own, options)
        except MCPError as error:
            raise received(error) from error
        except TimeoutError as error:  # raised by the transport while writing
            raise RpcError(types.REQUEST_TIMEOUT, str(error), fault=Fault.TIMED_OUT) from error

    @property
    def _is_closed(self) -> bool:
        return bool(getattr(self.client.session._dispatcher, "_closed", False))

    async def restart_if_closed(self) -> None:
        """Restart a stdio server whose process has died, and drop the cached list of its tools.

        Raises `RpcError` if the server does not start; nothing was sent then.
        """
        if self.restarter is None or not self._is_closed:
            return
        async with self._lock:
            if not self._is_closed:
                return
            try:
                client = await self.restarter.restart()
            except ServerExitedError as error:
                raise RpcError(types.CONNECTION_CLOSED, error.what, fault=Fault.NOT_SENT) from error
            self.client = client
            self.generation += 1
            if self._forget is not None:
                _listen(client, self._forget)
                self._forget()

    async def call(self, options: SendOptions, call: Call) -> Answer:
        """Send one call to the server. Raises `RpcError`.

        If the server asks the client for input first, the client's callbacks answer.
        """
        call.is_sent = True
        if call.request.dry_run_of is not None:
            options = SendOptions(options.timeout)  # input responses belong to the real call

        async def send(
            responses: types.InputResponses | None, state: str | None
        ) -> Answer | types.InputRequiredResult:
            raw = await self.request(
                "tools/call",
                _params(call, responses, state),
                timeout=options.timeout,
                progress=call.progress if options.has_progress else None,
                input_schema=call.tool.input_schema,
            )
            if self.is_modern and raw.get("resultType") == "input_required":
                return types.InputRequiredResult.model_validate(raw)
            return raw

        first = await send(options.responses, options.state)
        try:
            raw = await self.client._drive_input_required(first, send)
            return without_own_meta(await self._finished(options, call, raw))
        except MCPError as error:  # raised by the client's callbacks and extensions
            raise received(error) from error

    async def _finished(self, options: SendOptions, call: Call, raw: Answer) -> Answer:
        """Return the result. A client's extension resolves a result of the extension's type."""
        session = self.client.session
        kind = raw.get("resultType", _COMPLETE)
        if not self.is_modern or kind == _COMPLETE:
            return raw
        claim = session._active_claims.get(str(kind))
        if claim is None:
            # MCP 2026-07-28: a result of an unknown type is invalid.
            raise RpcError(PARSE_ERROR, f"unknown result type {kind!r}", fault=Fault.LOST)
        context = ClaimContext(
            session=session, tool_name=call.tool.name, read_timeout_seconds=options.timeout
        )
        result = await claim.resolve(claim.model.model_validate(raw), context)
        return result.model_dump(by_alias=True, mode="json", exclude_none=True)

    def forgetting(self, forget: Callable[[], None]) -> AbstractContextManager[None]:
        """Return a context that calls `forget` when the server reports a change of its tools."""
        self._forget = forget
        return _listening(self.client, forget)

    async def server_info(self) -> Mapping[str, Any]:
        """Return the server's `serverInfo`; request it if the client does not know it."""
        session = self.client.session
        known = self.client.server_info
        if known is not None:
            return known.model_dump(by_alias=True, mode="json", exclude_none=True)
        if not self.is_modern:
            return {}
        try:
            reply = await session.send_discover(self.client.protocol_version)
        except (MCPError, ValueError):
            return {}
        return as_object(as_object(reply.get("_meta")).get(types.SERVER_INFO_META_KEY))


def received(error: MCPError) -> RpcError:
    """Convert an error of the SDK's client; set `fault` if the error means that no answer came."""
    if error.data is None and error.message.startswith(_UNANSWERED.get(error.code, ("\0",))):
        if error.code == types.REQUEST_TIMEOUT:
            return RpcError(error.code, error.message, fault=Fault.TIMED_OUT)
        # The SDK's message would quote the unreadable answer, so replace it.
        is_unreadable = error.code == types.PARSE_ERROR
        message = "the server's answer cannot be read" if is_unreadable else error.message
        return RpcError(error.code, message, fault=Fault.LOST)
    return RpcError(error.code, error.message, error.data)


def _params(
    call: Call, responses: types.InputResponses | None, state: str | None
) -> dict[str, Any]:
    rounds = types.CallToolRequestParams(
        name=call.tool.name, input_responses=responses, request_state=state
    ).model_dump(by_alias=True, mode="json", exclude_none=True)
    return {**rounds, "arguments": dict(call.arguments), **call.sent_meta}


@contextmanager
def _listening(client: Client, forget: Callable[[], None]) -> "Generator[None]":
    session = client.session
    before = session._message_handler
    handle = _listen(client, forget)
    try:
        yield
    finally:
        # Restore the handler only if no other one was set later: that one calls this handler.
        if session._message_handler is handle:
            session._message_handler = before


def _listen(client: Client, forget: Callable[[], None]) -> "MessageHandlerFnT":
    """Call `forget` before the client's own handler, and return the handler that does so."""
    session = client.session
    before = session._message_handler

    async def handle(message: Any) -> None:
        if isinstance(message, types.ToolListChangedNotification):
            forget()
        await before(message)

    session._message_handler = handle
    return handle
