"""The time that a call may wait for a person, which depends on its client's timeout.

A client that times out reports a broken connection, and its user does not see the question. So the
call ends a little earlier, with an answer that states where the question can be answered.
"""

from dataclasses import dataclass
from typing import Final

DEFAULT_SECONDS: Final = 45.0
"""The default, also for clients that request progress, because progress shows that a call waits."""
UNKNOWN_CLIENT_SECONDS: Final = 25.0
_MARGIN: Final = 0.8
"""The part of a client's timeout that is used; the rest is for delays on a busy machine."""


@dataclass(frozen=True, slots=True)
class KnownClient:
    """A client whose default timeout is known from its source; `name` is its `clientInfo.name`."""

    title: str
    name: str
    limit_seconds: float
    users_see: str


KNOWN_CLIENTS: Final = (
    KnownClient("OpenAI Agents SDK", "mcp", 5.0, "a failed tool call: timed out"),
    KnownClient("agno", "mcp", 10.0, "a failed tool call: timed out"),
    KnownClient("LlamaIndex", "mcp", 30.0, "a failed tool call: timed out"),
)
"""All of these use the Python SDK's default name `mcp`, so their shortest timeout is used."""


def patience_for(client_name: str, *, tells_progress: bool) -> float:
    """Return the seconds that a call of this client may wait for a person.

    >>> patience_for("mcp", tells_progress=False)
    4.0
    >>> patience_for("mcp", tells_progress=True)
    45.0
    >>> patience_for("my agent", tells_progress=False)
    25.0
    """
    if tells_progress:
        return DEFAULT_SECONDS
    name = client_name.strip().casefold()
    limits = [client.limit_seconds for client in KNOWN_CLIENTS if client.name == name]
    return min(limits) * _MARGIN if limits else UNKNOWN_CLIENT_SECONDS
