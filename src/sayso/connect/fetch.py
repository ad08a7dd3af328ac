"""A client for small JSON documents over HTTP, for requests to authorization servers.

Size and time are limited. Redirects are not followed, and other machines are reached only by
https. Errors contain no part of a request or a response.
"""

import base64
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, Final, cast
from urllib.parse import quote_plus, urlencode, urlsplit

import anyio

from sayso.connect.address import is_private
from sayso.connect.web.connection import BrokenError
from sayso.connect.web.pool import NotSentError, Pool, target_of
from sayso.errors import TimedOutError, UnreachableError, UsageError
from sayso.keys import Reference
from sayso.schema import parse_json

SECONDS: Final = 10.0
LARGEST: Final = 512 * 1024
"""Bytes. The largest sets of keys are a few tens of thousands."""


@dataclass(frozen=True, slots=True)
class ClientAuth:
    """Credentials of sayso at an authorization server (RFC 6749, section 2.3.1)."""

    client_id: str
    secret: Reference
    is_in_body: bool = False

    def dress(self, form: Mapping[str, str]) -> tuple[dict[str, str], dict[str, str]]:
        """Return a form and headers, with credentials in either. Raises `KeysError`."""
        secret = self.secret.read()
        if self.is_in_body:
            return {**form, "client_id": self.client_id, "client_secret": secret}, {}
        pair = f"{quote_plus(self.client_id)}:{quote_plus(secret)}"
        encoded = base64.b64encode(pair.encode()).decode()
        return dict(form), {"Authorization": f"Basic {encoded}"}


@dataclass(frozen=True, slots=True)
class Reply:
    """An authorization server's response; `body` is empty if it is not a JSON object."""

    status: int
    body: Mapping[str, Any] = field(repr=False)

    @property
    def is_ok(self) -> bool:
        return self.status == HTTPStatus.OK

    @property
    def error(self) -> str:
        """The error code (RFC 6749, section 5.2), or the HTTP status if it is invalid."""
        code = self.body.get("error")
        if isinstance(code, str) and code.replace("_", "").isalnum() and code.isascii():
            return code[:40]
        return f"HTTP {self.status}"


@dataclass(slots=True)
class Fetcher:
    """A client with one pool of connections for each configured endpoint."""

    seconds: float = SECONDS
    _pools: dict[tuple[str, str], Pool] = field(default_factory=dict[tuple[str, str], Pool])

    async def get(self, url: str) -> Reply:
        """Request a document. Raises `UnreachableError`."""
        return await self._ask("GET", url)

    async def post(self, url: str, form: Mapping[str, str], auth: ClientAuth | None) -> Reply:
        """Send a form with the credentials of `auth`. Raises `UnreachableError`, `KeysError`."""
        body: Mapping[str, str] = form
        headers: dict[str, str] = {}
        if auth:
            body, headers = auth.dress(form)
        headers["Content-Type"] = "application/x-www-form-urlencoded"
        return await self._ask("POST", url, urlencode(body), headers)

    async def close(self) -> None:
        while self._pools:
            _, pool = self._pools.popitem()
            await pool.close()

    async def _ask(
        self, verb: str, url: str, body: str | None = None, headers: Mapping[str, str] | None = None
    ) -> Reply:
        where = urlsplit(url)._replace(query="").geturl()
        if not is_private(url):
            what = "this request would go over the network unencrypted"
            fix = "Use https, or an address of this machine."
            raise UnreachableError(what, where=where, fix=fix)
        try:
            with anyio.fail_after(self.seconds):
                return await self._exchange(verb, url, body, headers or {}, where)
        except TimeoutError:
            what = f"no answer within {self.seconds:g} s"
            raise TimedOutError(what, where=where) from None
        # Drop the cause: it may contain the request or the response.
        except NotSentError:
            raise UnreachableError("the connection could not be opened", where=where) from None
        except BrokenError:
            raise UnreachableError("the connection broke", where=where) from None

    async def _exchange(
        self, verb: str, url: str, body: str | None, headers: Mapping[str, str], where: str
    ) -> Reply:
        # Refuse compression, because a small response could unpack to a huge one.
        told = {"accept": "application/json", "accept-encoding": "identity", **headers}
        sent = (body or "").encode()
        exchange = await self._pool(url).exchange(verb, target_of(url), told, sent)
        try:
            await exchange.reply.head()
            text = bytearray()
            while piece := await exchange.reply.piece():
                text += piece
                if len(text) > LARGEST:
                    raise UnreachableError("the answer is too large", where=where)
        finally:
            exchange.close()
        status = exchange.reply.status
        try:
            value = parse_json(bytes(text))
        except (UsageError, UnicodeDecodeError):
            value = None
        if isinstance(value, dict):
            return Reply(status, cast("dict[str, Any]", value))
        if HTTPStatus.OK <= status < HTTPStatus.MULTIPLE_CHOICES:
            raise UnreachableError("the answer is not a JSON object", where=where)
        return Reply(status, {})

    def _pool(self, url: str) -> Pool:
        parts = urlsplit(url)
        found = self._pools.get((parts.scheme, parts.netloc))
        if found is None:
            found = self._pools[parts.scheme, parts.netloc] = Pool.to(url)
        return found


@asynccontextmanager
async def open_fetcher(seconds: float = SECONDS) -> AsyncGenerator[Fetcher]:
    """Yield a `Fetcher`, and close its connections at the end."""
    fetcher = Fetcher(seconds)
    try:
        yield fetcher
    finally:
        with anyio.CancelScope(shield=True):
            await fetcher.close()
