"""What a request proves itself by where a server wants a token: had before it is sent."""

from collections.abc import Awaitable, Callable, Mapping
from http import HTTPStatus
from typing import Protocol

from sayso.connect.web.pool import Exchange, NotSentError
from sayso.errors import SaysoError


class Authenticator(Protocol):
    """Credentials for one server on behalf of one caller."""

    async def headers(self) -> Mapping[str, str]:
        """The headers that prove it. Raises a `SaysoError` where there are none."""
        ...

    def forget(self) -> None:
        """Drop what was given out last: the server did not take it."""
        ...


class NoCredentialsError(NotSentError):
    """Nothing was sent, for there was nothing to prove it by; its cause says why."""


async def proved(
    proof: Authenticator, ask: Callable[[Mapping[str, str]], Awaitable[Exchange]]
) -> Exchange:
    """What `ask` gets with the headers of `proof`, its head read; once more with newer ones on 401.

    A server that answers 401 has refused to do what was asked (RFC 9110, section 15.5.2), so it
    cannot be done twice. Raises `NoCredentialsError`, and what `ask` raises.
    """
    shown = await _headers(proof)
    exchange = await ask(shown)
    if exchange.reply.status != HTTPStatus.UNAUTHORIZED:
        return exchange
    exchange.close()
    newer = await _headers(proof)
    if newer == shown:
        # Where another request has not had a newer one by now, this one does.
        proof.forget()
        newer = await _headers(proof)
    return exchange if newer == shown else await ask(newer)


async def _headers(proof: Authenticator) -> Mapping[str, str]:
    try:
        return await proof.headers()
    except SaysoError as error:
        raise NoCredentialsError(str(error)) from error
