"""Who is told of what changes at the servers, and of what they log."""

import asyncio
from collections import Counter, deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

from avow.connect.rpc import INTERNAL_ERROR, RpcError
from avow.policy import LOCAL

UPDATED: Final = "notifications/resources/updated"
LOGGED: Final = "notifications/message"
COMPLETED: Final = "notifications/elicitation/complete"
LISTS_CHANGED: Final[Mapping[str, str]] = {
    "toolsListChanged": "notifications/tools/list_changed",
    "promptsListChanged": "notifications/prompts/list_changed",
    "resourcesListChanged": "notifications/resources/list_changed",
}
"""As a client of 2026-07-28 asks for it, and as it is told."""

LEVELS: Final = (
    "debug",
    "info",
    "notice",
    "warning",
    "error",
    "critical",
    "alert",
    "emergency",
)
"""Of what servers log, from the least to the most severe (RFC 5424)."""

EVERYTHING: Final = frozenset({*LISTS_CHANGED.values(), COMPLETED})
_MOST: Final = 10_000
_MOST_EACH: Final = 1000
"""Listeners; the second of each caller that is known."""
_MOST_FOLLOWED: Final = 10_000
"""Resources that all listeners of one caller follow together."""

_MOST_UNSAID: Final = 256

Tell = Callable[[str, Mapping[str, Any]], object]
T = TypeVar("T")


class Backlog(asyncio.Queue[T]):
    """What waits for a client that is told of changes."""

    _queue: deque[T]

    def __init__(self) -> None:
        super().__init__(_MOST_UNSAID)

    def holds(self, item: T) -> bool:
        """Whether the same waits already: of many changes a client need hear but once."""
        return item in self._queue


def is_severe(said: object, wanted: str) -> bool:
    """Whether what was logged at level `said` is for somebody who wants `wanted` and above."""
    return said not in LEVELS or LEVELS.index(str(said)) >= LEVELS.index(wanted)


@dataclass(slots=True, eq=False)
class Listener:
    """A client that hears what belongs to none of its requests. `tell` never waits.

    `subject` is its caller, and `server` names the only one that it is for. `uris` are resources,
    each with its server, and `level` is from where on it wants to know what is logged. What is
    logged over a connection that callers share may say what was done for somebody else: it is for
    those who are all one caller, since they are local.
    """

    tell: Tell
    subject: str = LOCAL
    is_local: bool = False
    server: str | None = None
    kinds: frozenset[str] = EVERYTHING
    uris: dict[str, str] = field(default_factory=dict[str, str])
    level: str | None = None
    hears_logs: bool = True

    def wants(
        self, server: str, subject: str | None, method: str, params: Mapping[str, Any]
    ) -> bool:
        """Whether it is to be told what was heard for `subject`, or for all."""
        if self.server not in (None, server) or subject not in (None, self.subject):
            return False
        if method == UPDATED:
            uri = str(params.get("uri"))
            return any(whose == server and _is_below(uri, one) for one, whose in self.uris.items())
        if method == LOGGED:
            is_own = subject is not None or self.is_local
            is_loud = is_severe(params.get("level"), self.level or LEVELS[0])
            return self.hears_logs and is_own and is_loud
        return method in self.kinds


@dataclass(slots=True)
class Hub:
    """All listeners of this process. `moved` is called when others follow a server's resources."""

    moved: Callable[[str], None] = lambda _: None
    _listeners: dict[Listener, None] = field(default_factory=dict[Listener, None])
    _each: Counter[str] = field(default_factory=Counter[str])
    is_closed: bool = False

    def join(self, listener: Listener) -> None:
        """Tell it from now on. Raises `RpcError` where there are too many."""
        if listener in self._listeners:
            return
        subject = listener.subject
        is_full = self.count >= _MOST or (
            not listener.is_local and self._each[subject] >= _MOST_EACH
        )
        if self.is_closed or is_full:
            raise RpcError(INTERNAL_ERROR, "no more listeners are taken")
        self._listeners[listener] = None
        self._each[subject] += 1

    def leave(self, listener: Listener) -> None:
        """Tell it no more."""
        if listener in self._listeners:
            del self._listeners[listener]
            self._each -= Counter({listener.subject: 1})
            for server in {*listener.uris.values()}:
                self.moved(server)

    def may_follow(self, subject: str) -> bool:
        """Whether this caller may follow one more resource."""
        return sum(len(one.uris) for one in self._of(subject)) < _MOST_FOLLOWED

    def followed(self, server: str, subject: str | None) -> frozenset[str]:
        """The resources of this server that `subject` wants to hear of, or anybody."""
        return frozenset(
            uri
            for listener in self._of(subject)
            for uri, whose in listener.uris.items()
            if whose == server
        )

    def has(self, server: str, subject: str | None) -> bool:
        """Whether anybody listens to what is heard from this server for `subject`, or for all."""
        return any(one.server in (None, server) for one in self._of(subject))

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self._listeners)

    def level(self, subject: str | None) -> str | None:
        """The least severe level that `subject` wants to hear of, or anybody, if one has said."""
        wanted = [one.level for one in self._of(subject) if one.level in LEVELS]
        return min(wanted, key=LEVELS.index) if wanted else None

    def tell(
        self, server: str, subject: str | None, method: str, params: Mapping[str, Any]
    ) -> None:
        """What was heard from this server on behalf of `subject`, or of all."""
        for one in [*self._listeners]:
            if one.wants(server, subject, method, params):
                one.tell(method, params)

    def tell_lists(self, server: str, subject: str | None) -> None:
        """Any list of this server may have changed."""
        for method in LISTS_CHANGED.values():
            self.tell(server, subject, method, {})

    def _of(self, subject: str | None) -> list[Listener]:
        return [one for one in self._listeners if subject in (None, one.subject)]

    def close(self) -> None:
        """End all streams: their clients listen again elsewhere."""
        self.is_closed = True
        for one in [*self._listeners]:
            one.tell("", {})


def _is_below(uri: str, followed: str) -> bool:
    """A server may tell of a part of what is followed."""
    return uri == followed or uri.startswith((f"{followed.rstrip('/')}/", f"{followed}#"))
