"""Authentication of requests to a server that requires a token."""

from collections.abc import Awaitable, Callable, Mapping
from http import HTTPStatus
from typing import Protocol

from sayso.connect.web.pool import Exchange, NotSentError
from sayso.errors import SaysoError


class Authenticator(Protocol):
    """Credentials for one server on behalf of one caller."""

    async def headers(self) -> Mapping[str, str]:
        """Return the headers with the credentials. Raises a `SaysoError` if there are none."""
        ...

    def forget(self) -> None: ...


class NoCredentialsError(NotSentError):
    """A request that was not sent, because there are no credentials; the cause has the reason."""


async def proved(
    proof: Authenticator, ask: Callable[[Mapping[str, str]], Awaitable[Exchange]]
) -> Exchange:
    """Call `ask` with the headers of `proof`; on 401, call it once more with newer headers.

    A server that answers 401 did not run the request (RFC 9110, section 15.5.2), so the request
    cannot run twice. Raises `NoCredentialsError`, and what `ask` raises.
    """
    sent_headers = await _headers(proof)
    exchange = await ask(sent_headers)
    if exchange.reply.status != HTTPStatus.UNAUTHORIZED:
        return exchange
    exchange.close()
    newer = await _headers(proof)
    if newer == sent_headers:
        # No other request has renewed the credentials yet.
        proof.forget()
        newer = await _headers(proof)
    return exchange if newer == sent_headers else await ask(newer)


async def _headers(proof: Authenticator) -> Mapping[str, str]:
    try:
        return await proof.headers()
    except SaysoError as error:
        raise NoCredentialsError(str(error)) from error
