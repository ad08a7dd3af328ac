"""What is known of a client while one of its requests is answered."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, Final, Protocol, cast

from sayso.connect import HANDSHAKE_VERSIONS, INTERNAL_ERROR, RpcError
from sayso.gateway.caller import ASK_SECONDS, Caller, Questions
from sayso.gateway.notifications import LEVELS, LOGGED, Listener, is_severe
from sayso.policy import Principal

META: Final = "io.modelcontextprotocol/"
CONSOLE: Final = "console"
"""The client through which people call tools from sayso's own pages."""

_LONGEST_NAME: Final = 128


@dataclass(slots=True)
class Client:
    """Who calls, what its client speaks and can do, and the session that this is part of.

    `level` is from where on it hears what is logged, and `name` what its program calls itself.
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
        """Whether it is told of what a server logs: since 2026-07-28 only on request."""
        if self.level is None:
            return not self.is_modern
        return is_severe(level, self.level)


class Line(Protocol):
    """The way back to a client while its request is answered."""

    @property
    def owner(self) -> object:
        """The same for all requests of which one client takes what the others are about."""
        ...

    @property
    def listener(self) -> Listener | None:
        """What its session hears outside of requests, where there are sessions."""
        ...

    async def notify(self, method: str, params: Mapping[str, Any]) -> None:
        """Tell the client something, and wait until it takes it."""
        ...

    def tell(self, method: str, params: Mapping[str, Any]) -> None:
        """The same without waiting, for what may be left out."""
        ...

    async def ask(self, method: str, params: Mapping[str, Any]) -> Mapping[str, Any]:
        """Ask the client something, as could be done before 2026-07-28. Raises `RpcError`."""
        ...


@lru_cache(maxsize=1024)
def called(principal: Principal, client: str) -> Principal:
    """The caller through a client that calls itself so; one that is proved keeps its own name."""
    return principal if principal.is_known else replace(principal, client=client)


def caller_of(client: Client, line: Line) -> Caller:
    """How a server behind reaches the client while its request is answered."""

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


def level_of(wanted: object) -> str | None:
    """The level that a client asks for, if there is such a one."""
    return wanted if isinstance(wanted, str) and wanted in LEVELS else None


def name_of(info: object) -> str:
    """What a client calls itself. None is called what sayso's own console is called."""
    name = cast("dict[str, Any]", info).get("name") if isinstance(info, dict) else None
    if not isinstance(name, str) or not name:
        return "unknown"
    if name.strip().casefold() == CONSOLE:
        # A standing answer that a person gave for what they try there is not for others.
        return f"{CONSOLE} (not sayso's)"
    return name[:_LONGEST_NAME]
