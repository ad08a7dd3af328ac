"""Dispatch of servers' changes and log messages to the clients that listen."""

import asyncio
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

from sayso.connect import INTERNAL_ERROR, RpcError
from sayso.gateway.addresses import Address
from sayso.gateway.switches import Switches
from sayso.policy import LOCAL, subject_of

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
    """The messages that wait for a client that listens."""

    _queue: deque[T]

    def __init__(self) -> None:
        super().__init__(_MOST_UNSAID)

    def holds(self, item: T) -> bool:
        """Return whether the same message waits already: one is enough for many changes."""
        return item in self._queue


def is_severe(said: object, wanted: str) -> bool:
    """Return whether a message of level `said` is for a client that wants `wanted` and above."""
    return said not in LEVELS or LEVELS.index(str(said)) >= LEVELS.index(wanted)


@dataclass(slots=True, eq=False)
class Listener:
    """A client that gets messages about none of its requests. `tell` never waits.

    `subject` is its caller, and `server` the only server that it is for, if any. `uris` are
    resources as its client names them, and `level` the least severe log message that it gets. A log
    message over a connection that callers share may be about another caller: only local clients,
    which are all one caller, get it.
    """

    tell: Tell
    subject: str = LOCAL
    is_local: bool = False
    server: str | None = None
    kinds: frozenset[str] = EVERYTHING
    uris: dict[str, Address] = field(default_factory=dict[str, Address])
    level: str | None = None
    hears_logs: bool = True

    def hears(
        self, server: str, subject: str | None, method: str, params: Mapping[str, Any]
    ) -> Sequence[Mapping[str, Any]]:
        """Return what to tell of a message for `subject`, or for all; mostly one or nothing.

        A change of a resource is told in each form in which its client follows it.
        """
        if self.server not in (None, server) or subject not in (None, self.subject):
            return ()
        if method == UPDATED:
            uri = str(params.get("uri"))
            followed = [address for address in self.uris.values() if address.server == server]
            prefixes = dict.fromkeys(
                address.prefix for address in followed if _is_below(uri, address.uri)
            )
            return [{**params, "uri": prefix + uri} for prefix in prefixes]
        if method == LOGGED:
            if not self.hears_logs or (subject is None and not self.is_local):
                return ()
            if not is_severe(params.get("level"), self.level or LEVELS[0]):
                return ()
        elif method not in self.kinds:
            return ()
        return [params]


@dataclass(slots=True)
class Notifier:
    """All listeners of this process. `moved` is called when a server's followers change.

    Nothing is told of a server that is switched off, and a caller that is switched off loses its
    streams.
    """

    moved: Callable[[str], None] = lambda _: None
    switches: Switches = field(default_factory=Switches)
    _listeners: dict[Listener, None] = field(default_factory=dict[Listener, None])
    _each: Counter[str] = field(default_factory=Counter[str])
    is_closed: bool = False

    def join(self, listener: Listener) -> None:
        """Tell it from now on. Raises `RpcError` if there are too many."""
        if listener in self._listeners:
            return
        subject = listener.subject
        has_many = not listener.is_local and self._each[subject] >= _MOST_EACH
        if self.is_closed or has_many or self.count >= _MOST:
            raise RpcError(INTERNAL_ERROR, "no more listeners are taken")
        self._listeners[listener] = None
        self._each[subject] += 1

    def leave(self, listener: Listener) -> None:
        if listener in self._listeners:
            del self._listeners[listener]
            self._each -= Counter({listener.subject: 1})
            for server in {address.server for address in listener.uris.values()}:
                self.moved(server)

    def may_follow(self, subject: str) -> bool:
        return sum(len(listener.uris) for listener in self._of(subject)) < _MOST_FOLLOWED

    def followed(self, server: str, subject: str | None) -> frozenset[str]:
        """Return the resources of this server that `subject` follows, or any caller."""
        return frozenset(
            address.uri
            for listener in self._of(subject)
            for address in listener.uris.values()
            if address.server == server
        )

    def has(self, server: str, subject: str | None) -> bool:
        """Return whether this server has listeners for `subject`, or for all."""
        return any(listener.server in (None, server) for listener in self._of(subject))

    @property
    def count(self) -> int:
        return len(self._listeners)

    def level(self, subject: str | None) -> str | None:
        """Return the least severe level that `subject` wants, or any caller, if one has said."""
        wanted = [listener.level for listener in self._of(subject) if listener.level in LEVELS]
        return min(wanted, key=LEVELS.index, default=None)

    def tell(
        self, server: str, subject: str | None, method: str, params: Mapping[str, Any]
    ) -> None:
        """Tell listeners of a message of this server on behalf of `subject`, or of all."""
        if not self.switches.has_server(server):
            return
        for listener in [*self._listeners]:
            told = listener.hears(server, subject, method, params)
            if told and self._keeps(listener):
                for form in told:
                    listener.tell(method, form)

    def tell_policy(self) -> None:
        """End the streams of callers that are switched off; tell others that lists may differ."""
        for listener in [*self._listeners]:
            if self._keeps(listener):
                for method in LISTS_CHANGED.values():
                    if method in listener.kinds:
                        listener.tell(method, {})

    def _keeps(self, listener: Listener) -> bool:
        if self.switches.has_caller(subject_of(listener.subject)):
            return True
        self.leave(listener)
        listener.tell("", {})
        return False

    def tell_lists(self, server: str, subject: str | None) -> None:
        for method in LISTS_CHANGED.values():
            self.tell(server, subject, method, {})

    def _of(self, subject: str | None) -> list[Listener]:
        return [listener for listener in self._listeners if subject in (None, listener.subject)]

    def close(self) -> None:
        """End all streams: their clients listen again at another process."""
        self.is_closed = True
        for listener in [*self._listeners]:
            listener.tell("", {})


def _is_below(uri: str, followed: str) -> bool:
    """Return whether `uri` is a part of a followed resource, which a server may tell of."""
    return uri == followed or uri.startswith((f"{followed.rstrip('/')}/", f"{followed}#"))
