"""The time that a call may wait for a person, by what its client can bear.

A client that gives up first reports a broken connection, and its user never learns that a question
waits. So a call ends a little earlier, with an answer that says where the question is.
"""

from dataclasses import dataclass
from typing import Final

DEFAULT_SECONDS: Final = 45.0
"""For clients that ask to be told of progress: they see that the call waits."""
UNKNOWN_CLIENT_SECONDS: Final = 25.0
_MARGIN: Final = 0.8
"""Of a client's limit: the answer has to arrive, on a busy machine too."""


@dataclass(frozen=True, slots=True)
class KnownClient:
    """A client whose limit was read in its source; `name` is what it calls itself in MCP."""

    title: str
    name: str
    limit_seconds: float
    users_see: str


KNOWN_CLIENTS: Final = (
    KnownClient("OpenAI Agents SDK", "mcp", 5.0, "a failed tool call: timed out"),
    KnownClient("agno", "mcp", 10.0, "a failed tool call: timed out"),
    KnownClient("LlamaIndex", "mcp", 30.0, "a failed tool call: timed out"),
)
"""`mcp` is the Python SDK's own default, so the shortest limit behind it counts for all these."""


def patience_for(client_name: str, *, tells_progress: bool) -> float:
    """Return how many seconds a call of this client may wait for a person.

    >>> patience_for("mcp", tells_progress=False)
    4.0
    >>> patience_for("mcp", tells_progress=True)
    45.0
    >>> patience_for("somebody's agent", tells_progress=False)
    25.0
    """
    if tells_progress:
        return DEFAULT_SECONDS
    name = client_name.strip().casefold()
    limits = [client.limit_seconds for client in KNOWN_CLIENTS if client.name == name]
    return min(limits) * _MARGIN if limits else UNKNOWN_CLIENT_SECONDS
