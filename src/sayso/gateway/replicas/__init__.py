"""The processes of one gateway, and messages between them.

Rows in the store list the processes. A request between two processes opens a connection, sends one
sealed line, and gets one sealed line back. To add a kind of request, add a handler under its name
to `ReplicaClient.handlers`. A state that a client returns later should contain
`ReplicaClient.name`, so that `ReplicaClient.send` finds the process or reports that it has ended.
"""

from sayso.gateway.replicas.messaging import GoneError, Handler, ReplicaClient, open_replicas

__all__ = ["GoneError", "Handler", "ReplicaClient", "open_replicas"]
