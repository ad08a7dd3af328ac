"""A process among others: found by them, and able to send them errands."""

import secrets
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import anyio

from sayso.beside import beside
from sayso.gateway.replicas.envelope import Envelopes
from sayso.gateway.replicas.messaging import ReplicaClient, listen
from sayso.gateway.replicas.presence import Presence
from sayso.keys import Keyring
from sayso.store import ReplicaRow, Replicas


@asynccontextmanager
async def open_replicas(
    replicas: Replicas, keys: Keyring, listener: socket.socket, host: str
) -> AsyncGenerator[ReplicaClient]:
    """The post of a process that others reach at `host` and the port of `listener`.

    Raises `KeysError` where another process has other keys.
    """
    name = secrets.token_hex(6)
    port = listener.getsockname()[1]
    address = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    presence = Presence(replicas, ReplicaRow(name, address, " ".join(keys.ids)))
    post = ReplicaClient(name, Envelopes(keys, name), presence)
    await presence.join(keys)
    try:
        server = await listen(post, listener)
        await presence.look()
        async with server, beside(presence.run):
            yield post
    finally:
        with anyio.CancelScope(shield=True):
            await presence.leave()
