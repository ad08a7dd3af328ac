"""The processes of one gateway, and messages between them.

Rows in the store say which processes there are. A request between two processes is one sealed line
there and one back, on a connection of its own. To add a kind of request, add a handler under its
name to `ReplicaClient.handlers`. What a client brings back should contain `ReplicaClient.name`, so
that `ReplicaClient.send` finds the process or reports that it is gone.
"""

from sayso.gateway.replicas.messaging import GoneError, Handler, ReplicaClient, open_replicas

__all__ = ["GoneError", "Handler", "ReplicaClient", "open_replicas"]
