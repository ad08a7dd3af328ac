"""Posting of a JSON document to a URL that is a secret itself, such as a chat's webhook."""

from base64 import b64encode
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Final
from urllib.parse import unquote, urlsplit

import anyio
import msgspec

from sayso.connect.web.connection import BrokenError
from sayso.connect.web.pool import NotSentError, Pool, target_of
from sayso.errors import TimedOutError, UnreachableError

_HEADERS: Final = {"content-type": "application/json", "accept": "*/*"}


async def post_json(url: str, document: Mapping[str, Any], *, seconds: float) -> None:
    """Post a document within `seconds`, directly: without proxies and redirects.

    A user name and password in the URL are sent as Basic authentication. Raises `TimedOutError`,
    and `UnreachableError` for an answer that is not a success. No error contains the URL.
    """
    try:
        with anyio.fail_after(seconds):
            status = await _post(url, msgspec.json.encode(document))
    except TimeoutError:
        raise TimedOutError(f"no answer within {seconds:g} s") from None
    # Drop the cause: it may contain the URL.
    except NotSentError:
        raise UnreachableError("the connection could not be opened") from None
    except BrokenError:
        raise UnreachableError("the connection broke") from None
    if not HTTPStatus.OK <= status < HTTPStatus.MULTIPLE_CHOICES:
        raise UnreachableError(f"HTTP {status}")


async def _post(url: str, body: bytes) -> int:
    """Send one request and return the status of its answer."""
    pool = Pool(urlsplit(url))
    try:
        exchange = await pool.exchange("POST", target_of(url), _headers(url), body)
        try:
            await exchange.reply.head()
        finally:
            exchange.close()
    finally:
        with anyio.CancelScope(shield=True):
            await pool.close()
    return exchange.reply.status


def _headers(url: str) -> dict[str, str]:
    parts = urlsplit(url)
    if not parts.username and not parts.password:
        return _HEADERS
    pair = f"{unquote(parts.username or '')}:{unquote(parts.password or '')}"
    return {**_HEADERS, "authorization": f"Basic {b64encode(pair.encode()).decode()}"}
