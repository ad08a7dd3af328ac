"""The other processes of one gateway: who they are, and what is sent from one to another."""

from avow.gateway.replicas.opening import open_replicas
from avow.gateway.replicas.post import GoneError, Handler, Post

__all__ = ["GoneError", "Handler", "Post", "open_replicas"]
