"""HTTP to a server so that one broken exchange ends one call, not the whole client.

The SDK's client ends when any of its requests fails in transport. Here such a failure becomes an
ordinary JSON-RPC error for that request alone, marked with the `Fault` that it was; and answers
that are not MCP at all (a login page, a proxy's error) are marked likewise.
"""

import json
import ssl
from collections.abc import AsyncIterator, Mapping
from functools import cache
from http import HTTPStatus
from typing import Any, Final, cast
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import httpx2

from avow.connect.rpc import FAULT_KEY, Fault

_CONNECT_SECONDS: Final = 10.0
_GOODBYE_SECONDS: Final = 2.0
_SESSION: Final = "mcp-session-id"
_SPEAKS_MCP: Final = ("application/json", "text/event-stream")


def http_client(url: str, headers: Mapping[str, str]) -> httpx2.AsyncClient:
    """A client for one endpoint; redirects are left to the SDK, which stays within the origin."""
    timeout = httpx2.Timeout(None, connect=_CONNECT_SECONDS)
    # As bytes: what stands in a configuration need not be ASCII.
    encoded = [(name.encode(), value.encode()) for name, value in headers.items()]
    return httpx2.AsyncClient(
        transport=_Courier(transport_to(url)), headers=encoded, timeout=timeout, trust_env=False
    )


def transport_to(url: str) -> httpx2.AsyncHTTPTransport:
    """Connections to one endpoint, through the proxy that the environment names for it."""
    parts = urlsplit(url)
    is_direct = proxy_bypass(parts.hostname or "")
    proxy = None if is_direct else getproxies().get(parts.scheme)
    return httpx2.AsyncHTTPTransport(verify=_tls(), proxy=proxy, trust_env=False)


@cache
def _tls() -> ssl.SSLContext:
    """One context for all connections: making one costs tens of milliseconds."""
    return ssl.create_default_context()


class _Courier(httpx2.AsyncBaseTransport):
    def __init__(self, inner: httpx2.AsyncBaseTransport) -> None:
        self._inner = inner

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        if request.method == "DELETE":
            # The SDK says goodbye to a session before it lets go, however long that takes.
            request.extensions["timeout"] = httpx2.Timeout(_GOODBYE_SECONDS).as_dict()
        try:
            response = await self._inner.handle_async_request(request)
        except (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.ProxyError) as error:
            return _fault(Fault.NOT_SENT, f"no connection: {error}")
        except httpx2.TransportError as error:
            return _fault(Fault.LOST, f"the connection broke: {type(error).__name__}")
        if request.method != "POST":
            return response
        if marked := await _marked(request, response):
            return marked
        response.stream = _Guarded(response.stream)
        return response

    async def aclose(self) -> None:
        await self._inner.aclose()


class _Guarded(httpx2.AsyncByteStream):
    """A response body that ends where it breaks; the SDK then answers for what is missing."""

    def __init__(self, inner: object) -> None:
        if not isinstance(
            inner, httpx2.AsyncByteStream
        ):  # pragma: no cover - a sync body cannot come from an async transport
            message = "an asynchronous response must have an asynchronous body"
            raise TypeError(message)
        self._inner = inner

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            async for chunk in self._inner:
                yield chunk
        except httpx2.TransportError:
            return

    async def aclose(self) -> None:
        await self._inner.aclose()


async def _marked(request: httpx2.Request, response: httpx2.Response) -> httpx2.Response | None:
    """An error in the place of an answer that is not MCP, or `None` when it is."""
    kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    fault = _fault_of(response, kind)
    if response.is_client_error and fault is not Fault.UNAUTHORIZED:
        fault = await _fault_of_refusal(request, response, kind)
    if fault is None:
        return None
    await response.aclose()
    aside = f" with {kind or 'no content type'}" if fault is Fault.NOT_MCP else ""
    return _fault(fault, f"HTTP {response.status_code}{aside}")


async def _fault_of_refusal(
    request: httpx2.Request, response: httpx2.Response, kind: str
) -> Fault | None:
    """What a 4xx means, unless it holds the server's own error.

    A server that was started anew knows none of its old sessions: it says 404 (MCP 2025-11-25,
    Streamable HTTP, session management), and many say 400 instead.
    """
    try:
        body = _object(await response.aread()) if kind == "application/json" else {}
    except httpx2.TransportError:
        return Fault.LOST
    error = body.get("error")
    has_session = _SESSION in request.headers
    if not isinstance(error, dict):
        is_gone = has_session and response.status_code == HTTPStatus.NOT_FOUND
        return Fault.EXPIRED if is_gone else Fault.REFUSED
    if not has_session or body.get("id") == _object(request.content).get("id"):
        return None
    said = str(cast("dict[str, Any]", error).get("message")).lower()
    is_gone = response.status_code == HTTPStatus.NOT_FOUND or "session" in said
    return Fault.EXPIRED if is_gone else None


def _object(body: bytes) -> dict[str, Any]:
    """The JSON object that `body` holds; an empty one where it holds none."""
    try:
        value = json.loads(body)
    except ValueError:
        return {}
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _fault_of(response: httpx2.Response, kind: str) -> Fault | None:
    status = response.status_code
    if status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):
        return Fault.UNAUTHORIZED
    if response.is_server_error and status != HTTPStatus.NOT_IMPLEMENTED:
        # A proxy's 502 or 504 says nothing of whether the server behind it did its work.
        return Fault.LOST
    is_empty = status == HTTPStatus.ACCEPTED or response.is_redirect
    if is_empty or (kind in _SPEAKS_MCP and not response.is_server_error):
        return None
    return Fault.REFUSED if response.is_error else Fault.NOT_MCP


def _fault(fault: Fault, message: str) -> httpx2.Response:
    error = {"code": -32000, "message": message, "data": {FAULT_KEY: str(fault)}}
    body = json.dumps({"jsonrpc": "2.0", "id": None, "error": error}).encode()
    return httpx2.Response(503, headers={"content-type": "application/json"}, content=body)
