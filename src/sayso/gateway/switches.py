"""The servers and callers that the current policy switches off.

The switches are checked in three places: when a request looks for a server (`Upstreams.of`), when a
connection is used (`ServerConnection.link`), and when a notification is sent (`Notifier.tell`).
"""

from collections.abc import Callable
from dataclasses import dataclass

from sayso.guard import unruled
from sayso.policy import Policy, is_switched_off


@dataclass(frozen=True, slots=True)
class Switches:
    """The switches of the current policy, read on each use, so that a change applies at once."""

    policy: Callable[[], Policy] = unruled

    def has_server(self, name: str) -> bool:
        return not is_switched_off(self.policy(), server=name)

    def has_caller(self, subject: str) -> bool:
        return not is_switched_off(self.policy(), subject=subject)

    def has(self, server: str, subject: str) -> bool:
        return not is_switched_off(self.policy(), server=server, subject=subject)
