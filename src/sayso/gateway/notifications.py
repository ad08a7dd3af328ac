"""Dispatch of servers' notifications and log messages to the clients that listen."""

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
"""The keys of a subscription of 2026-07-28, each with the notification that it requests."""

LEVELS: Final = (
    *("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"),
)
"""The log levels, from the least to the most severe (RFC 5424)."""

EVERYTHING: Final = frozenset({*LISTS_CHANGED.values(), COMPLETED})
_MAX_LISTENERS: Final = 10_000
_MAX_PER_CALLER: Final = 1000
"""The maximum listeners: of all callers, and (`_MAX_PER_CALLER`) of each authenticated caller."""
_MAX_FOLLOWED: Final = 10_000
"""The maximum resources that all listeners of one caller follow together."""

_MAX_WAITING: Final = 256

Tell = Callable[[str, Mapping[str, Any]], object]
T = TypeVar("T")


class Backlog(asyncio.Queue[T]):
    """The messages that wait for a listening client."""

    _queue: deque[T]

    def __init__(self) -> None:
        super().__init__(_MAX_WAITING)

    def holds(self, item: T) -> bool:
        """Return whether the same message is already waiting, since it need not be sent twice."""
        return item in self._queue


def is_severe(level: object, least: str) -> bool:
    """Return whether a log message has the level `least` or above, or an unknown level."""
    return level not in LEVELS or LEVELS.index(str(level)) >= LEVELS.index(least)


@dataclass(slots=True, eq=False)
class Listener:
    """A client that gets messages outside of its requests. `tell` never waits.

    `subject` is the caller. `server` limits the client to one server. `uris` are its resources, as
    the client writes them. `level` is the least severe level that it gets. Log messages of a shared
    connection may be about other callers, so only local clients, who are one caller, get them.
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
        """Return the parameters of each notification to send to this client for a server's message.

        `subject` is the addressee; `None` means all. A resource's change is sent for each URI by
        which the client follows it. Any other message gives one notification or none.
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

    If the policy switches a server off, its messages are dropped. If it switches a caller off, the
    caller's streams end.
    """

    moved: Callable[[str], None] = lambda _: None
    switches: Switches = field(default_factory=Switches)
    _listeners: dict[Listener, None] = field(default_factory=dict[Listener, None])
    _per_caller: Counter[str] = field(default_factory=Counter[str])
    is_closed: bool = False

    def join(self, listener: Listener) -> None:
        """Add a listener. Raises `RpcError` if there are too many."""
        if listener in self._listeners:
            return
        subject = listener.subject
        has_many = not listener.is_local and self._per_caller[subject] >= _MAX_PER_CALLER
        if self.is_closed or has_many or self.count >= _MAX_LISTENERS:
            raise RpcError(INTERNAL_ERROR, "too many listeners")
        self._listeners[listener] = None
        self._per_caller[subject] += 1

    def leave(self, listener: Listener) -> None:
        if listener in self._listeners:
            del self._listeners[listener]
            self._per_caller -= Counter({listener.subject: 1})
            for server in {address.server for address in listener.uris.values()}:
                self.moved(server)

    def may_follow(self, subject: str) -> bool:
        return sum(len(listener.uris) for listener in self._of(subject)) < _MAX_FOLLOWED

    def followed(self, server: str, subject: str | None) -> frozenset[str]:
        """Return this server's resources that `subject` follows; `None` means any caller."""
        return frozenset(
            address.uri
            for listener in self._of(subject)
            for address in listener.uris.values()
            if address.server == server
        )

    def has(self, server: str, subject: str | None) -> bool:
        """Return whether this server has listeners of `subject`; `None` means any caller."""
        return any(listener.server in (None, server) for listener in self._of(subject))

    @property
    def count(self) -> int:
        return len(self._listeners)

    def level(self, subject: str | None) -> str | None:
        """Return the least severe level that `subject` has set; `None` means any caller."""
        levels = [listener.level for listener in self._of(subject) if listener.level in LEVELS]
        return min(levels, key=LEVELS.index, default=None)

    def tell(
        self, server: str, subject: str | None, method: str, params: Mapping[str, Any]
    ) -> None:
        """Send a message of this server to the listeners of `subject`; `None` means all."""
        if not self.switches.has_server(server):
            return
        for listener in [*self._listeners]:
            forms = listener.hears(server, subject, method, params)
            if forms and self._keeps(listener):
                for form in forms:
                    listener.tell(method, form)

    def tell_policy(self) -> None:
        """End the streams of callers that are switched off; send list_changed to the others."""
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
        """End all streams, so that their clients reconnect to another process."""
        self.is_closed = True
        for listener in [*self._listeners]:
            listener.tell("", {})


def _is_below(uri: str, followed: str) -> bool:
    return uri == followed or uri.startswith((f"{followed.rstrip('/')}/", f"{followed}#"))
