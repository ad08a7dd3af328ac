"""One connection to one server: raw JSON in, raw JSON out, in either protocol era.

The SDK carries the messages; its models never see them, so keys it does not know and hints of a
wrong type arrive as they were sent.
"""

import contextlib
import tempfile
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import IO, Any, Final, TextIO, cast

import anyio
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.dispatcher import CallOptions, DispatchContext, ProgressFnT
from mcp.shared.exceptions import MCPError
from mcp.shared.jsonrpc_dispatcher import JSONRPCDispatcher
from mcp.shared.transport_context import TransportContext

from avow import __version__
from avow.connect.courier import http_client
from avow.connect.envelope import Envelope
from avow.connect.failure import Diary, explain
from avow.connect.kinds import CommandTarget, UrlTarget
from avow.connect.negotiate import Greeting, negotiate
from avow.connect.process import start_process
from avow.connect.rpc import METHOD_NOT_FOUND, Fault, RpcError
from avow.errors import AvowError, ServerExitedError, UnreachableError

CLIENT_INFO: Final[Mapping[str, Any]] = {"name": "avow", "title": "avow", "version": __version__}

_LARGEST_EVENT: Final = 64 * 1024 * 1024
"""In bytes. The SDK takes 1 MiB, and many results with a picture are larger: they would be lost
after the call has run."""

Progress = Callable[[float, float | None, str | None], Awaitable[None]]
Notified = Callable[[str, Mapping[str, Any]], Awaitable[None]]


async def ignore(_method: str, _params: Mapping[str, Any]) -> None:
    """Take no notice of a server's notifications."""


@dataclass(slots=True)
class Link:
    """An open connection. Safe to use from many tasks at once."""

    name: str
    greeting: Greeting
    _dispatcher: JSONRPCDispatcher[TransportContext]
    closed: anyio.Event = field(default_factory=anyio.Event)

    @property
    def version(self) -> str:
        """The protocol version agreed on."""
        return self.greeting.envelope.version

    async def request(
        self,
        method: str,
        params: Mapping[str, Any],
        *,
        timeout: float,
        progress: Progress | None = None,
        input_schema: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        """Send one request and return its result as received; `timeout` in seconds.

        Cancelling the caller cancels the request at the server. Raises `RpcError`.
        """
        envelope = self.greeting.envelope
        try:
            return await _send(
                self._dispatcher, method, params, envelope, timeout, progress, input_schema
            )
        except RpcError as error:
            if error.fault is Fault.EXPIRED:
                self.closed.set()
            raise


@contextlib.asynccontextmanager
async def open_link(
    target: CommandTarget | UrlTarget,
    *,
    timeout: float,
    client_info: Mapping[str, Any] = CLIENT_INFO,
    notified: Notified = ignore,
) -> AsyncGenerator[Link]:
    """Connect to `target` and agree on a protocol version within `timeout` seconds.

    Enter and leave in the same task. Raises an `UnreachableError` or `AuthenticationError` that
    says why there is no connection. On leaving, a server's process is ended with all its children.
    """
    opening = _Opening(target, timeout, anyio.current_time() + timeout, client_info, notified)
    async with contextlib.AsyncExitStack() as stack:
        try:
            link = await stack.enter_async_context(_open(opening))
        except UnreachableError as error:
            # An old server may end at a first message that is not `initialize`, or be of no use
            # after it: it is to be started anew (MCP 2026-07-28, backward compatibility).
            has_answered = type(error) in (ServerExitedError, UnreachableError)
            if not has_answered or isinstance(target, UrlTarget):
                raise
            link = await stack.enter_async_context(_open(opening, is_old=True))
        yield link


@dataclass(frozen=True, slots=True)
class _Opening:
    """What `open_link` was asked for; `deadline` in the event loop's time."""

    target: CommandTarget | UrlTarget
    timeout: float
    deadline: float
    client_info: Mapping[str, Any]
    notified: Notified


@contextlib.asynccontextmanager
async def _open(opening: _Opening, *, is_old: bool = False) -> AsyncGenerator[Link]:
    target, timeout = opening.target, opening.timeout
    failure: Exception | None = None
    with _stderr_file() as stderr:
        diary = Diary(stderr)
        try:
            async with contextlib.AsyncExitStack() as stack:
                try:
                    dispatcher, closed = await _start(target, stack, diary, opening.notified)
                    # Only here: a time limit may not enclose the start of tasks that outlive it.
                    with anyio.fail_after(opening.deadline - anyio.current_time()):
                        greeting = await _greet(dispatcher, opening, is_old=is_old)
                    link = Link(target.name, greeting, dispatcher, closed)
                except (AvowError, RpcError, OSError, ValueError) as error:
                    failure = explain(error, target, diary, timeout)
                else:
                    try:
                        yield link
                    except Exception as error:  # noqa: BLE001 - raised below, outside its wrappers
                        failure = error
        except ExceptionGroup as group:
            # The transport's own tasks failed: on the way in, that is why there is no connection.
            failure = failure or explain(group, target, diary, timeout)
    if failure is not None:
        raise failure


async def _start(
    target: CommandTarget | UrlTarget,
    stack: contextlib.AsyncExitStack,
    diary: Diary,
    notified: Notified,
) -> tuple[JSONRPCDispatcher[TransportContext], anyio.Event]:
    """Start what carries the messages, to be ended by `stack`; nothing is said yet."""
    if isinstance(target, CommandTarget):
        transport = start_process(target, cast("TextIO", diary.stderr))
    else:
        client = await stack.enter_async_context(http_client(target.url, target.headers))
        transport = streamable_http_client(
            target.url, http_client=client, max_sse_event_size=_LARGEST_EVENT
        )
    read, write = await stack.enter_async_context(transport)
    dispatcher = JSONRPCDispatcher[TransportContext](
        read, write, on_stream_exception=diary.note_garbage
    )
    closed = anyio.Event()
    group = await stack.enter_async_context(anyio.create_task_group())
    stack.callback(group.cancel_scope.cancel)
    await group.start(_run, dispatcher, notified, closed)
    return dispatcher, closed


async def _greet(
    dispatcher: JSONRPCDispatcher[TransportContext], opening: _Opening, *, is_old: bool
) -> Greeting:
    async def send(
        method: str, params: Mapping[str, Any], envelope: Envelope, seconds: float
    ) -> dict[str, Any]:
        return await _send(dispatcher, method, params, envelope, seconds, None, None)

    async def notify(method: str, envelope: Envelope) -> None:
        await dispatcher.notify(method, None, {"headers": envelope.headers(method, {})})

    return await negotiate(
        send, notify, opening.client_info, timeout=opening.timeout, is_old=is_old
    )


async def _run(
    dispatcher: JSONRPCDispatcher[TransportContext],
    notified: Notified,
    closed: anyio.Event,
    *,
    task_status: anyio.abc.TaskStatus[None] = anyio.TASK_STATUS_IGNORED,
) -> None:
    async def on_notify(
        _: DispatchContext[TransportContext], method: str, params: Mapping[str, Any] | None
    ) -> None:
        await notified(method, params or {})

    try:
        await dispatcher.run(_answer, on_notify, task_status=task_status)
    finally:
        closed.set()


async def _answer(
    _: DispatchContext[TransportContext], method: str, __: Mapping[str, Any] | None
) -> dict[str, Any]:
    """What a server may ask of avow: only whether it is there. No capability is offered."""
    if method == "ping":
        return {}
    raise MCPError(METHOD_NOT_FOUND, f"avow does not offer {method}")


async def _send(
    dispatcher: JSONRPCDispatcher[TransportContext],
    method: str,
    params: Mapping[str, Any],
    envelope: Envelope,
    timeout: float,
    progress: Progress | None,
    input_schema: Mapping[str, Any] | None,
) -> dict[str, Any]:
    options: CallOptions = {
        "timeout": timeout,
        "headers": envelope.headers(method, params, input_schema),
        # Neither of the two that open a connection may be cancelled (MCP, cancellation).
        "cancel_on_abandon": method not in ("initialize", "server/discover"),
    }
    if progress is not None:
        options["on_progress"] = cast("ProgressFnT", progress)  # it calls by position
    try:
        return await dispatcher.send_raw_request(method, envelope.params(params), options)
    except MCPError as error:
        raise RpcError.received(error.code, error.message, error.data) from error


def _stderr_file() -> IO[str]:
    """Where a server's own talk goes: a file, since the child needs a real descriptor."""
    return tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace", prefix="avow-stderr-")
