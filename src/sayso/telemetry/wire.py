"""ASGI middleware that counts bytes and stores the trace context of each request."""

from collections.abc import Callable, MutableMapping
from contextvars import ContextVar
from typing import Any, Final

from starlette.types import ASGIApp, Receive, Scope, Send

CARRIED: Final[ContextVar[dict[str, str] | None]] = ContextVar("sayso_carried", default=None)
"""The trace context in the headers of the current HTTP request; `None` without HTTP."""

_TRACE: Final = (b"traceparent", b"tracestate")


def traced(app: ASGIApp) -> ASGIApp:
    """Wrap an application so that `CARRIED` holds the trace context of each request."""

    async def outer(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            headers = scope["headers"]
            CARRIED.set(
                {key.decode(): value.decode("latin-1") for key, value in headers if key in _TRACE}
            )
        await app(scope, receive, send)

    return outer


def counted(app: ASGIApp, received: Callable[[int], None], sent: Callable[[int], None]) -> ASGIApp:
    """Wrap an application; `received` and `sent` are called with the sizes of its bodies."""

    async def outer(scope: Scope, receive: Receive, send: Send) -> None:
        async def heard() -> MutableMapping[str, Any]:
            message = await receive()
            received(len(message.get("body", b"")))
            return message

        async def say(message: MutableMapping[str, Any]) -> None:
            sent(len(message.get("body", b"")))
            await send(message)

        await app(scope, heard, say)

    return outer
