"""A client, and the interface for messages to it during one of its requests."""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, Final, Protocol, cast

from sayso.connect import (
    HANDSHAKE_VERSIONS,
    INTERNAL_ERROR,
    INVALID_PARAMS,
    LATEST_HANDSHAKE,
    Message,
    RpcError,
    read_object,
)
from sayso.gateway.caller import ASK_SECONDS, Caller, Questions
from sayso.gateway.notifications import LEVELS, LOGGED, Listener, is_severe
from sayso.policy import Principal

META: Final = "io.modelcontextprotocol/"
CONSOLE: Final = "console"
"""The client name of calls that people make from sayso's web pages."""

_MAX_NAME_CHARACTERS: Final = 128


@dataclass(slots=True)
class Client:
    """A caller's client, and the session of its request.

    `level` is the least severe log level that the client gets; `name` is its program's name.
    """

    principal: Principal
    version: str
    capabilities: Mapping[str, Any] = field(default_factory=dict[str, Any])
    session: str | None = None
    level: str | None = None
    name: str = "unknown"

    @property
    def is_modern(self) -> bool:
        return self.version not in HANDSHAKE_VERSIONS

    def hears(self, level: object) -> bool:
        """Return whether the client gets logs of this level; since 2026-07-28 only on request."""
        if self.level is None:
            return not self.is_modern
        return is_severe(level, self.level)


class Line(Protocol):
    """The interface for messages to a client during its request.

    `owner` is the same for all requests of one client. `listener` gets the session's messages
    outside of requests; it is `None` without sessions. `notify` waits until the client has received
    the message. `tell` does not wait, and may drop the message. `ask` sends a request and returns
    the answer. `ask` raises `RpcError`, and always does so for a client of 2026-07-28.
    """

    @property
    def owner(self) -> object: ...
    @property
    def listener(self) -> Listener | None: ...
    async def notify(self, method: str, params: Mapping[str, Any]) -> None: ...
    def tell(self, method: str, params: Mapping[str, Any]) -> None: ...
    async def ask(self, method: str, params: Mapping[str, Any]) -> Mapping[str, Any]: ...


@lru_cache(maxsize=1024)
def called(principal: Principal, client: str) -> Principal:
    """Return the caller with the client's name; an authenticated caller stays unchanged."""
    if principal.is_known:
        return principal
    return replace(principal, client=client)


def caller_of(client: Client, line: Line) -> Caller:
    """Return the `Caller` that forwards questions and messages to the client over `line`."""

    async def ask(questions: Questions) -> Mapping[str, Mapping[str, Any]]:
        answers: dict[str, Mapping[str, Any]] = {}
        try:
            async with asyncio.timeout(ASK_SECONDS):
                for key, asked in questions.items():
                    answers[key] = await line.ask(asked["method"], asked["params"])
        except TimeoutError:
            raise RpcError(INTERNAL_ERROR, "the client of this call gave no answer") from None
        return answers

    def tell(method: str, params: Mapping[str, Any]) -> None:
        if method != LOGGED or client.hears(params.get("level")):
            line.tell(method, params)

    return Caller(line.owner, client.capabilities, ask, line.notify, tell)


def level_of(level: object) -> str | None:
    """Return the log level that a client requests; `None` if MCP does not define it."""
    return level if isinstance(level, str) and level in LEVELS else None


def name_of(info: object) -> str:
    """Return a client's name; a client that uses the console's reserved name is renamed."""
    if not isinstance(info, dict):
        return "unknown"
    name = cast("dict[str, Any]", info).get("name")
    if not isinstance(name, str) or not name:
        return "unknown"
    if name.strip().casefold() == CONSOLE:
        # Grants for calls from the console must not apply to other clients.
        return f"{CONSOLE} (not sayso's)"
    return name[:_MAX_NAME_CHARACTERS]


def hello_of(message: Message) -> tuple[str, dict[str, Any], str]:
    """Return the negotiated version, the client's capabilities and name. Raises `RpcError`."""
    params: dict[str, Any] = {}
    with suppress(ValueError):
        params = read_object(message.params)
    requested = params.get("protocolVersion")
    offered = params.get("capabilities")
    if not isinstance(requested, str) or not isinstance(offered, dict):
        raise RpcError(INVALID_PARAMS, "initialize must have protocolVersion and capabilities")
    version = requested if requested in HANDSHAKE_VERSIONS else LATEST_HANDSHAKE
    return version, cast("dict[str, Any]", offered), name_of(params.get("clientInfo"))
