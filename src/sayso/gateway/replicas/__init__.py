"""The processes of one gateway, and messages between them."""

from sayso.gateway.replicas.messaging import GoneError, Handler, ReplicaClient, open_replicas

__all__ = ["GoneError", "Handler", "ReplicaClient", "open_replicas"]
