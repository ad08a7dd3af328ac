"""The other processes of one gateway: who they are, and what is sent from one to another."""

from sayso.gateway.replicas.messaging import GoneError, Handler, ReplicaClient, open_replicas

__all__ = ["GoneError", "Handler", "ReplicaClient", "open_replicas"]
