"""What an HTTP answer is in MCP: a message, a stream of them, or the reason why there is none."""

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
    """Its media type, without parameters."""
    return reply.headers.get("content-type", "").partition(";")[0].strip().lower()


def is_stream(reply: Reply) -> bool:
    """Whether it is a stream of events."""
    return reply.status == HTTPStatus.OK and kind_of(reply) == EVENTS


def is_redirect(reply: Reply) -> bool:
    """Whether it sends the request on to another place."""
    return reply.status in _REDIRECTS and bool(reply.headers.get("location"))


def sent_on(reply: Reply, url: str, path: str) -> str:
    """Where a redirect of `path` leads; to another origin than that of `url` none is followed.

    Raises `RpcError`.
    """
    place = reply.headers["location"]
    try:
        goal = urljoin(urljoin(url, path), place)
        is_within = urlsplit(goal)[:2] == urlsplit(url)[:2]
    except ValueError as error:
        # Nobody can say what the server meant by it, or did before it.
        what = f"its redirect to {place!r} leads nowhere"
        raise RpcError.none(Fault.LOST, what) from error
    if not is_within:
        what = f"its redirect to {goal} is not followed; name that URL if it is meant"
        raise RpcError.none(Fault.SENT_ON, what)
    return goal


async def events(reply: Reply, reader: EventReader) -> AsyncGenerator[Event]:
    """The messages of a stream as they come. Raises `BrokenError`, and `ValueError` as read.

    An event without data is no message: a server begins a stream with one, to say where it can be
    taken up again (MCP 2025-11-25, Streamable HTTP, sending messages to the server).
    """
    while piece := await reply.piece():
        begun = time.perf_counter()
        found = reader.feed(piece)
        await rest_since(begun)
        for event in found:
            if event.kind == "message" and event.data:
                yield event


def response(body: bytes, number: int) -> Message:
    """The response to request `number`. Raises `ValueError` for what is none."""
    message = read_message(body)
    is_refusal = message.id is None and bool(message.error)
    if not message.is_response or (message.id != number and not is_refusal):
        what = "it answers another request"
        raise ValueError(what)
    return message


async def refuse(reply: Reply, number: int | None, *, has_session: bool) -> None:
    """Raise `RpcError` for an answer that holds no response; to request `number`, if it was one."""
    status = reply.status
    kind = kind_of(reply)
    if status == HTTPStatus.OK and kind in (JSON, EVENTS):
        return
    if status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):
        raise RpcError.none(Fault.UNAUTHORIZED, f"HTTP {status}")
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR and status != HTTPStatus.NOT_IMPLEMENTED:
        # A proxy's 502 or 504 says nothing of whether the server behind it did its work.
        raise RpcError.none(Fault.LOST, f"HTTP {status}")
    if status >= HTTPStatus.BAD_REQUEST:
        raise await _refusal(reply, number, has_session=has_session)
    if number is None or kind in (JSON, EVENTS):
        return
    if status == HTTPStatus.ACCEPTED:
        raise RpcError.none(Fault.LOST, f"HTTP {status} in the place of a response")
    raise RpcError.none(Fault.NOT_MCP, f"HTTP {status} with {kind or 'no content type'}")


async def _refusal(reply: Reply, number: int | None, *, has_session: bool) -> RpcError:
    """What a 4xx means: the server's own error where it holds one.

    A server that was started anew knows none of its old sessions: it says 404 (MCP 2025-11-25,
    Streamable HTTP, session management), and many say 400 instead.
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
