"""A process among others: found by them, and able to send them errands."""

import secrets
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import anyio

from avow.beside import beside
from avow.gateway.replicas.envelope import Envelopes
from avow.gateway.replicas.post import Post, listen
from avow.gateway.replicas.presence import Presence
from avow.keys import Keyring
from avow.store import ReplicaRow, Store


@asynccontextmanager
async def open_replicas(
    store: Store, keys: Keyring, listener: socket.socket, host: str
) -> AsyncGenerator[Post]:
    """The post of a process that others reach at `host` and the port of `listener`.

    Raises `KeysError` where another process has other keys.
    """
    name = secrets.token_hex(6)
    port = listener.getsockname()[1]
    address = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    presence = Presence(store, ReplicaRow(name, address, " ".join(keys.ids)))
    post = Post(name, Envelopes(keys, name), presence)
    await presence.join(keys)
    try:
        server = await listen(post, listener)
        await presence.look()
        async with server, beside(presence.run):
            yield post
    finally:
        with anyio.CancelScope(shield=True):
            await presence.leave()
