"""An HTTP request: its headers, its messages, and its refusal."""

import contextlib
import itertools
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final

from starlette.types import Receive, Scope, Send

from sayso.connect import (
    HEADER_MISMATCH,
    INVALID_REQUEST,
    PARSE_ERROR,
    Message,
    read_message,
    write_error,
)
from sayso.errors import UsageError
from sayso.gateway.frontends.batch import is_batch, read_batch
from sayso.gateway.frontends.reply import Header, Reply
from sayso.policy import Principal
from sayso.schema import RepeatedKeyError, read_strictly
from sayso.slices import rest_since
from sayso.workers import BusyError, run_job

_MAX_LOCAL_BYTES: Final = 65_536
"""The largest message that is checked on the event loop; larger ones are checked in a worker."""

_CHECK_SECONDS: Final = 5.0
_LANES: Final = 2
"""The number of job queues for large messages; all callers share these queues."""

_JOB: Final = "sayso.workers.jobs:find_fault"
_numbers: Final = itertools.count()


class AmbiguousError(ValueError):
    """A message that two parsers would read differently, or that is too large."""


async def check_unambiguous(body: bytes) -> None:
    """Raise `AmbiguousError` for JSON with a repeated key, or with too many keys or values."""
    if len(body) <= _MAX_LOCAL_BYTES:
        _check(body)
        return
    lane = f"message {next(_numbers) % _LANES}"
    try:
        output = await run_job(lane, _JOB, (body,), seconds=_CHECK_SECONDS)
    except (BusyError, OSError, RuntimeError) as error:
        raise AmbiguousError("the message cannot be checked for repeated keys now") from error
    if not output.is_complete:
        raise AmbiguousError("the message cannot be checked for repeated keys in time")
    if output.last is not None:
        raise AmbiguousError(output.last.decode())


def _check(body: bytes) -> None:
    # Ignore other errors here: the parser of the message reports them.
    with contextlib.suppress(UsageError):
        try:
            read_strictly(body)
        except RepeatedKeyError as error:
            raise AmbiguousError(error.what) from None


MAX_BODY_BYTES: Final = 4 * 1024 * 1024

_EVENTS: Final = ("text/event-stream", "text/*", "*/*")
PARAMETER: Final = "mcp-param-"

_ROUTING: Final = frozenset({"mcp-protocol-version", "mcp-method", "mcp-name", "mcp-session-id"})


class RefusedError(Exception):
    """A request that is refused, with an HTTP status and a JSON-RPC error."""

    def __init__(
        self, status: int, text: str, code: int = INVALID_REQUEST, headers: tuple[Header, ...] = ()
    ) -> None:
        super().__init__(text)
        self.status = status
        self.text = text
        self.code = code
        self.headers = headers

    async def answer(self, send: Send) -> None:
        reply = Reply(send, takes_events=False, headers=self.headers)
        await reply.finish(write_error(None, self.code, self.text), self.status)


Identify = Callable[[Scope], Awaitable[Principal]]
"""A function that returns the caller of a request. Raises `sayso.access.RefusedError`."""


@dataclass(slots=True)
class Request:
    """A request with parsed headers."""

    verb: str
    headers: Mapping[str, str]
    receive: Receive
    send: Send

    @classmethod
    def of(cls, scope: Scope, receive: Receive, send: Send) -> "Request":
        """Parse the headers. Raises `RefusedError` for a repeated header that must be unique."""
        return cls(scope["method"], _headers(scope), receive, send)

    @property
    def takes_events(self) -> bool:
        """Return whether the client accepts a stream instead of one message."""
        accept = self.headers.get("accept", "")
        return any(kind in accept for kind in _EVENTS)

    async def messages(self) -> Message | list[Message]:
        """Return the message in the body, or all messages of a batch. Raises `RefusedError`."""
        kind = self.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind != "application/json":
            what = "the content type must be application/json"
            raise RefusedError(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, what)
        body = await self._body()
        try:
            begun = time.perf_counter()
            messages = read_batch(body) if is_batch(body) else read_message(body)
            await rest_since(begun)
            await check_unambiguous(body)
        except AmbiguousError as error:
            raise RefusedError(HTTPStatus.BAD_REQUEST, str(error), INVALID_REQUEST) from None
        except ValueError:
            is_json = body.lstrip().startswith((b"{", b"["))
            code = INVALID_REQUEST if is_json else PARSE_ERROR
            what = "the body must be one JSON-RPC 2.0 message"
            raise RefusedError(HTTPStatus.BAD_REQUEST, what, code) from None
        return messages

    async def accept(self) -> None:
        headers = [(b"content-length", b"0")]
        await self.send({"type": "http.response.start", "status": 202, "headers": headers})
        await self.send({"type": "http.response.body", "body": b""})

    async def left(self) -> None:
        while (await self.receive())["type"] != "http.disconnect":
            pass

    async def _body(self) -> bytes:
        length = self.headers.get("content-length", "0")
        if length.isdigit() and int(length) > MAX_BODY_BYTES:
            raise _too_large()
        pieces: list[bytes] = []
        size = 0
        while True:
            part = await self.receive()
            if part["type"] == "http.disconnect":
                raise RefusedError(HTTPStatus.BAD_REQUEST, "the request is incomplete")
            pieces.append(part.get("body", b""))
            size += len(pieces[-1])
            if size > MAX_BODY_BYTES:
                raise _too_large()
            if not part.get("more_body"):
                return b"".join(pieces)


def _headers(scope: Scope) -> dict[str, str]:
    headers = scope["headers"]
    parsed = {name.decode("latin-1"): value.decode("latin-1") for name, value in headers}
    if len(parsed) == len(headers):
        return parsed
    parsed.clear()
    for name, value in headers:
        key = name.decode("latin-1")
        text = value.decode("latin-1")
        if key not in parsed:
            parsed[key] = text
        elif key in _ROUTING or key.startswith(PARAMETER):
            # A proxy may read the first value and a server the last, so refuse repeated headers.
            what = f"the header {key} is repeated"
            raise RefusedError(HTTPStatus.BAD_REQUEST, what, HEADER_MISMATCH)
        else:
            parsed[key] = f"{parsed[key]}, {text}"
    return parsed


def _too_large() -> RefusedError:
    what = f"a request must have at most {MAX_BODY_BYTES} bytes"
    return RefusedError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, what)
