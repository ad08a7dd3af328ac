"""The meaning of an HTTP response in MCP: a message, a stream of messages, or a fault."""

import time
from collections.abc import AsyncGenerator
from http import HTTPStatus
from typing import Final
from urllib.parse import urljoin, urlsplit

from sayso.connect.message import Message, read_message
from sayso.connect.rpc import Fault, RpcError
from sayso.connect.web.connection import Reply
from sayso.connect.web.events import Event, EventReader
from sayso.slices import rest_since

EVENTS: Final = "text/event-stream"
JSON: Final = "application/json"
_REDIRECTS: Final = (
    HTTPStatus.MOVED_PERMANENTLY,
    HTTPStatus.FOUND,
    HTTPStatus.TEMPORARY_REDIRECT,
    HTTPStatus.PERMANENT_REDIRECT,
)


def kind_of(reply: Reply) -> str:
    """Return the media type, without parameters."""
    return reply.headers.get("content-type", "").partition(";")[0].strip().lower()


def is_stream(reply: Reply) -> bool:
    """Return whether an answer is a stream of events."""
    return reply.status == HTTPStatus.OK and kind_of(reply) == EVENTS


def is_redirect(reply: Reply) -> bool:
    """Return whether an answer is a redirect."""
    return reply.status in _REDIRECTS and bool(reply.headers.get("location"))


def sent_on(reply: Reply, url: str, path: str) -> str:
    """Return the URL of a redirect of `path`. Raises `RpcError` if it leaves this origin."""
    place = reply.headers["location"]
    try:
        goal = urljoin(urljoin(url, path), place)
        is_within = urlsplit(goal)[:2] == urlsplit(url)[:2]
    except ValueError as error:
        # The server may have run the call before it answered.
        what = f"the redirect to {place!r} is not a URL"
        raise RpcError.none(Fault.LOST, what) from error
    if not is_within:
        what = f"the redirect to {goal} is not followed; to use that URL, configure it"
        raise RpcError.none(Fault.SENT_ON, what)
    return goal


async def events(reply: Reply, reader: EventReader) -> AsyncGenerator[Event]:
    """Yield the messages of a stream. Raises `BrokenError`, and `ValueError` as `EventReader`.

    Events without data are skipped: a server sends one first, to set an id (MCP 2025-11-25,
    Streamable HTTP, sending messages to the server).
    """
    while piece := await reply.piece():
        begun = time.perf_counter()
        found = reader.feed(piece)
        await rest_since(begun)
        for event in found:
            if event.kind == "message" and event.data:
                yield event


def response(body: bytes, number: int) -> Message:
    """Return the response to request `number`. Raises `ValueError` for any other message."""
    message = read_message(body)
    is_refusal = message.id is None and bool(message.error)
    if not message.is_response or (message.id != number and not is_refusal):
        raise ValueError("the message answers another request")
    return message


async def refuse(reply: Reply, number: int | None, *, has_session: bool) -> None:
    """Raise `RpcError` for an answer without a response; `number` is the request's, if any."""
    status = reply.status
    kind = kind_of(reply)
    if status == HTTPStatus.OK and kind in (JSON, EVENTS):
        return
    if status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):
        raise RpcError.none(Fault.UNAUTHORIZED, f"HTTP {status}")
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR and status != HTTPStatus.NOT_IMPLEMENTED:
        # A proxy's 502 or 504 does not say whether the server behind it did its work.
        raise RpcError.none(Fault.LOST, f"HTTP {status}")
    if status >= HTTPStatus.BAD_REQUEST:
        raise await _refusal(reply, number, has_session=has_session)
    if number is None or kind in (JSON, EVENTS):
        return
    if status == HTTPStatus.ACCEPTED:
        raise RpcError.none(Fault.LOST, f"HTTP {status} in the place of a response")
    raise RpcError.none(Fault.NOT_MCP, f"HTTP {status} with {kind or 'no content type'}")


async def _refusal(reply: Reply, number: int | None, *, has_session: bool) -> RpcError:
    """Return the error of a 4xx answer: the server's own, if it has one.

    A restarted server does not know its old sessions. It answers 404 (MCP 2025-11-25, Streamable
    HTTP, session management), but many servers answer 400.
    """
    status = reply.status
    try:
        message = read_message(await reply.body() if kind_of(reply) == JSON else b"")
    except ValueError:
        message = Message()
    is_gone = has_session and status == HTTPStatus.NOT_FOUND
    if not message.error:
        return RpcError.none(Fault.EXPIRED if is_gone else Fault.REFUSED, f"HTTP {status}")
    error = RpcError.received(message)
    if has_session and message.id != number:
        is_gone = is_gone or "session" in error.message.lower()
        return RpcError.none(Fault.EXPIRED, f"HTTP {status}") if is_gone else error
    return error
