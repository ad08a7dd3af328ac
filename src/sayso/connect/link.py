"""A connection to one server for raw JSON, in either protocol era.

Messages are not parsed into models, so unknown keys and hints of a wrong type arrive unchanged.
"""

import asyncio
import contextlib
import time
from collections.abc import AsyncGenerator, Coroutine, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Any, Final, Self

import anyio
import msgspec

from sayso.connect.envelope import Envelope
from sayso.connect.failure import explain
from sayso.connect.inbox import Inbox, Progress, offer_nothing
from sayso.connect.kinds import CommandTarget, UrlTarget
from sayso.connect.message import read_object, read_parts
from sayso.connect.negotiate import Greeting, negotiate
from sayso.connect.process import lines_of, start_process
from sayso.connect.request_listener import Asked, Notified, RequestListener, ignore
from sayso.connect.rpc import Fault, RpcError
from sayso.connect.stderr_log import StderrLog, secrets_of
from sayso.connect.stdio_transport import StdioTransport
from sayso.connect.watch import Exchange, Watch
from sayso.connect.web.authenticator import Authenticator
from sayso.connect.web.http_transport import HttpTransport
from sayso.errors import SaysoError, TimedOutError
from sayso.slices import LARGE_BYTES, rest_since
from sayso.version import __version__

CLIENT_INFO: Final[Mapping[str, Any]] = {"name": "sayso", "title": "sayso", "version": __version__}

NONE: Final[Mapping[str, Any]] = {}
_PROBE: Final = "server/discover"
_RESTART_SECONDS: Final = 15.0
"""The most time to reserve, within the timeout, for restarting an old server."""
_LEAVE_SECONDS: Final = 1.0


@dataclass(slots=True)
class Link:
    """An open connection. Safe to use from many tasks at once; `pending` counts open requests."""

    name: str
    greeting: Greeting
    _carrier: StdioTransport | HttpTransport
    closed: anyio.Event = field(default_factory=anyio.Event)
    pending: int = 0
    watch: Watch | None = None
    stderr_log: StderrLog = field(default_factory=StderrLog)

    @property
    def _ends(self) -> tuple[Fault, ...]:
        """The faults that end the connection; a refused token ends it only without `proof`."""
        if isinstance(self._carrier, HttpTransport) and self._carrier.proof is not None:
            return (Fault.EXPIRED,)
        return Fault.EXPIRED, Fault.UNAUTHORIZED

    @property
    def version(self) -> str:
        return self.greeting.envelope.version

    async def request(
        self,
        method: str,
        params: Mapping[str, Any],
        *,
        timeout: float | None,
        progress: Progress | None = None,
        listener: RequestListener | None = None,
        input_schema: Mapping[str, Any] | None = None,
        kept: AbstractSet[str] = frozenset(),
    ) -> dict[str, Any]:
        """Send one request and return its result as received; `timeout` in seconds.

        A request without `timeout` is not counted in `pending`. `listener` gets the server's
        messages. Members named in `kept` stay `msgspec.Raw`. Cancelling the caller also cancels the
        request at the server. Raises `RpcError`.
        """
        if self.watch is None:
            raw = await self._send(method, params, timeout, progress, listener, input_schema)
            return await _result(raw, kept)
        url = self._carrier.url if isinstance(self._carrier, HttpTransport) else None
        tool = params.get("name") if method == "tools/call" else None
        exchange = Exchange(self.name, method, self.version, url, tool)
        with self.watch(exchange):
            raw = await self._send(
                method, params, timeout, progress, listener, input_schema, exchange.trace
            )
            result = await _result(raw, kept)
            exchange.is_error = result.get("isError") is True
        return result

    async def _send(
        self,
        method: str,
        params: Mapping[str, Any],
        timeout: float | None,
        progress: Progress | None,
        listener: RequestListener | None,
        input_schema: Mapping[str, Any] | None,
        trace: Mapping[str, str] | None = None,
    ) -> msgspec.Raw:
        envelope = self.greeting.envelope
        counted = timeout is not None
        if trace:
            params = {**params, "_meta": {**(params.get("_meta") or {}), **trace}}
        self.pending += counted
        try:
            return await _send(
                self._carrier,
                method,
                params,
                envelope,
                timeout,
                progress,
                listener,
                input_schema,
                trace,
            )
        except RpcError as error:
            if error.fault in self._ends:
                self.closed.set()
            raise
        finally:
            self.pending -= counted


@contextlib.asynccontextmanager
async def open_link(
    target: CommandTarget | UrlTarget,
    *,
    timeout: float,
    client_info: Mapping[str, Any] = CLIENT_INFO,
    capabilities: Mapping[str, Any] = NONE,
    notified: Notified = ignore,
    asked: Asked = offer_nothing,
    watch: Watch | None = None,
    proof: Authenticator | None = None,
) -> AsyncGenerator[Link]:
    """Connect to `target` and agree on a protocol version within `timeout` seconds.

    A server with the handshake gets `capabilities` as the client's capabilities. The server's
    questions outside of requests go to `asked`. `watch` observes the requests. `proof`
    authenticates each request to a URL. Enter and leave in the same task. Raises `UnreachableError`
    or `AuthenticationError` with the reason. On leaving, the server's process and children end.
    """
    opening = _Opening(
        target,
        timeout,
        anyio.current_time() + timeout,
        client_info,
        capabilities,
        notified,
        asked,
        proof,
    )
    async with contextlib.AsyncExitStack() as stack:
        try:
            link = await stack.enter_async_context(_open(opening))
        except _RestartError as first:
            # An old server may fail if the first message is not `initialize`: restart it and send
            # that (MCP 2026-07-28, backward compatibility).
            try:
                link = await stack.enter_async_context(_open(opening, is_old=True))
            except TimedOutError as error:
                # The first start had more time, so prefer its error.
                raise (first.failure or error) from None
        link.watch = watch
        yield link


@dataclass(frozen=True, slots=True)
class _Opening:
    """The arguments of `open_link`; `deadline` in the event loop's time."""

    target: CommandTarget | UrlTarget
    timeout: float
    deadline: float
    client_info: Mapping[str, Any]
    capabilities: Mapping[str, Any]
    notified: Notified
    asked: Asked
    proof: Authenticator | None


@contextlib.asynccontextmanager
async def _open(opening: _Opening, *, is_old: bool = False) -> AsyncGenerator[Link]:
    target = opening.target
    timeout = opening.timeout
    failure: Exception | None = None
    stderr_log = StderrLog(target.name)
    if isinstance(target, CommandTarget):
        stderr_log.secrets = secrets_of(target.env)
    is_probing = isinstance(target, CommandTarget) and not is_old
    if is_probing:
        stderr_log.hold()
    async with contextlib.AsyncExitStack() as stack:
        try:
            carrier, closed = await _start(opening, stack, stderr_log)
            remaining = opening.deadline - anyio.current_time()
            if is_probing:
                remaining -= min(timeout / 3, _RESTART_SECONDS)
            with anyio.fail_after(remaining):
                greeting = await _greet(carrier, opening, stderr_log, is_old=is_old)
        except (SaysoError, RpcError, OSError, ValueError) as error:
            if isinstance(target, CommandTarget) and isinstance(error, RpcError):
                await stderr_log.settle()
            failure = explain(error, target, stderr_log, timeout)
            if is_probing and _may_be_old(error):
                failure = _RestartError(None if stderr_log.mentions(_PROBE) else failure)
        else:
            stderr_log.release()
            yield Link(target.name, greeting, carrier, closed, stderr_log=stderr_log)
    if failure is not None:
        raise failure


class _RestartError(Exception):
    """A failed probe. If the restart with the handshake times out, raise `failure`."""

    def __init__(self, failure: SaysoError | None) -> None:
        super().__init__()
        self.failure = failure


def _may_be_old(error: Exception) -> bool:
    if isinstance(error, TimeoutError):
        return True
    return isinstance(error, RpcError) and error.fault is not Fault.NOT_SENT


async def _start(
    opening: _Opening, stack: contextlib.AsyncExitStack, stderr_log: StderrLog
) -> tuple[StdioTransport | HttpTransport, anyio.Event]:
    """Start the transport without sending a message; `stack` closes it."""
    closed = anyio.Event()
    background = await stack.enter_async_context(_BackgroundTasks())
    target = opening.target
    inbox = Inbox(opening.notified, opening.asked)
    if isinstance(target, UrlTarget):
        http = HttpTransport(target.url, target.headers, inbox, background.spawn, opening.proof)
        stack.push_async_callback(http.close)
        return http, closed
    stdout, stderr, write_line = await stack.enter_async_context(start_process(target))
    log_task = asyncio.ensure_future(stderr_log.hear(stderr))
    stack.push_async_callback(_ended, log_task)
    stdio = StdioTransport(write_line, inbox, background.spawn)
    read_task = asyncio.ensure_future(_read(stdout, stdio, stderr_log, closed))
    stack.push_async_callback(_ended, read_task)
    return stdio, closed


async def _read(
    stdout: asyncio.StreamReader, stdio: StdioTransport, stderr_log: StderrLog, closed: anyio.Event
) -> None:
    try:
        async for line in lines_of(stdout):
            try:
                await stdio.receive(line)
            except ValueError:
                stderr_log.note_garbage(line)
    finally:
        stdio.close()
        closed.set()


async def _greet(
    carrier: StdioTransport | HttpTransport,
    opening: _Opening,
    stderr_log: StderrLog,
    *,
    is_old: bool,
) -> Greeting:
    async def send(
        method: str, params: Mapping[str, Any], envelope: Envelope, seconds: float
    ) -> dict[str, Any]:
        if method == "initialize" and not is_old:
            if stderr_log.mentions(_PROBE):
                # The server failed on the probe and would never answer.
                raise RpcError.none(Fault.LOST, "the server cannot be used after the probe")
            if isinstance(carrier, StdioTransport) and not carrier.is_closed:
                stderr_log.release()
        return await _result(await _send(carrier, method, params, envelope, seconds))

    async def notify(method: str, envelope: Envelope) -> None:
        if isinstance(carrier, StdioTransport):
            await carrier.notify(method)
        else:
            await carrier.notify(method, envelope.headers(method, {}))
            carrier.hear()

    return await negotiate(
        send,
        notify,
        opening.client_info,
        capabilities=opening.capabilities,
        timeout=opening.timeout,
        is_old=is_old,
    )


async def _send(  # noqa: PLR0913, PLR0917 - what one request may carry
    carrier: StdioTransport | HttpTransport,
    method: str,
    params: Mapping[str, Any],
    envelope: Envelope,
    timeout: float | None,
    progress: Progress | None = None,
    listener: RequestListener | None = None,
    input_schema: Mapping[str, Any] | None = None,
    trace: Mapping[str, str] | None = None,
) -> msgspec.Raw:
    sent_params = envelope.params(params, None if listener is None else listener.capabilities)
    if isinstance(carrier, StdioTransport):
        message = await carrier.request(
            method, sent_params, timeout=timeout, progress=progress, listener=listener
        )
    else:
        headers = envelope.headers(method, params, input_schema) | (dict(trace) if trace else {})
        message = await carrier.request(
            method,
            sent_params,
            headers,
            timeout=timeout,
            progress=progress,
            listener=listener,
            is_modern=envelope.is_modern,
        )
    if message.error:
        raise RpcError.received(message)
    return message.result


async def _result(raw: msgspec.Raw, kept: AbstractSet[str] = frozenset()) -> dict[str, Any]:
    begun = time.perf_counter()
    try:
        result = read_parts(raw, kept) if kept else read_object(raw)
    except ValueError as error:  # its message quotes the unreadable answer
        raise RpcError.none(Fault.LOST, "the answer cannot be read") from error
    if len(raw) > LARGE_BYTES:
        await rest_since(begun)
    return result


class _BackgroundTasks:
    """Background tasks, which get a moment to finish when the connection ends."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()

    def spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        with anyio.CancelScope(shield=True):
            if self._tasks:
                await asyncio.wait(self._tasks, timeout=_LEAVE_SECONDS)
            for task in [*self._tasks]:
                await _ended(task)


async def _ended(task: "asyncio.Task[None]") -> None:
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task
