"""An MCP gateway in front of other MCP servers, with the guard before every tool.

`frontends` receive the requests of clients, over HTTP in either protocol era and over stdio. The
`dispatcher` answers them, independently of transport and era. `router` finds the server of a
request, `upstreams` and `connection` talk to servers, and `tool_cache` caches their tools.

JSON is forwarded raw: only a message's envelope is parsed, so unknown keys and wrong types stay
unchanged. A result is parsed only if its tool has an output schema or if it is too long. The
gateway has its own transports, because the SDK's take several times as long.
"""

from typing import TYPE_CHECKING

from sayso.gateway.app import PATH, Gateway, make_app, make_dispatcher, open_gateway
from sayso.lazy import lazily

if TYPE_CHECKING:
    from sayso.gateway.cluster_calls import ClusterCalls, Reached
    from sayso.gateway.drift import Held, accept, held_changes
    from sayso.gateway.frontends.client import CONSOLE
    from sayso.gateway.frontends.stdio import StdioFrontend, standard_pipes
    from sayso.gateway.frontends.timeouts import PacedProtocol
    from sayso.gateway.health import ServerHealth, State
    from sayso.gateway.quarantine import evidence_of, lift, to_dict
    from sayso.gateway.replicas import ReplicaClient, open_replicas
    from sayso.gateway.replicas.messaging import GoneError
    from sayso.gateway.unmatched import find_unmatched, warn_of_unmatched
    from sayso.gateway.upstream import Upstream


__all__ = [
    "CONSOLE",
    "PATH",
    "ClusterCalls",
    "Gateway",
    "GoneError",
    "Held",
    "PacedProtocol",
    "Reached",
    "ReplicaClient",
    "ServerHealth",
    "State",
    "StdioFrontend",
    "Upstream",
    "accept",
    "evidence_of",
    "find_unmatched",
    "held_changes",
    "lift",
    "make_app",
    "make_dispatcher",
    "open_gateway",
    "open_replicas",
    "standard_pipes",
    "to_dict",
    "warn_of_unmatched",
]

__getattr__ = lazily(
    __name__,
    {
        "sayso.gateway.cluster_calls": ("Reached", "ClusterCalls"),
        "sayso.gateway.drift": ("Held", "accept", "held_changes"),
        "sayso.gateway.frontends.client": ("CONSOLE",),
        "sayso.gateway.frontends.stdio": ("StdioFrontend", "standard_pipes"),
        "sayso.gateway.frontends.timeouts": ("PacedProtocol",),
        "sayso.gateway.health": ("ServerHealth", "State"),
        "sayso.gateway.quarantine": ("evidence_of", "lift", "to_dict"),
        "sayso.gateway.replicas": ("ReplicaClient", "open_replicas"),
        "sayso.gateway.replicas.messaging": ("GoneError",),
        "sayso.gateway.unmatched": ("find_unmatched", "warn_of_unmatched"),
        "sayso.gateway.upstream": ("Upstream",),
    },
)
