"""How people log in to the console of the gateway that this process runs."""

import os
import socket
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from sayso.cli.address import Options
from sayso.cli.workers import Worker
from sayso.connect import Target
from sayso.console import About, LinkServer, Login, Provider, serving_links
from sayso.gateway import Gateway
from sayso.processes import Clients, LocalClients


@dataclass(frozen=True, slots=True)
class Entrance:
    """Sessions and links, and the clients on this machine that must get neither.

    `provider` is the issuer that people log in with; then there are no links.
    """

    login: Login
    callers: LocalClients
    about: About
    provider: Provider | None

    def first_link(self) -> str | None:
        """Return a link for whoever started the gateway; `None` if that was a client.

        Standard error of such a gateway belongs to the client whose calls are answered.
        """
        return None if self.provider or self.about.client is not None else self.login.link()

    @asynccontextmanager
    async def serving(self, worker: Worker | None) -> AsyncGenerator[None]:
        """Answer `sayso console`; of several workers one does."""
        if worker is not None and not worker.speaks:
            yield
            return
        link = None if self.provider else self.login.link
        server = LinkServer(self.about, link, self.callers.clients, self.callers.look)
        async with serving_links(server):
            yield


def make_entrance(
    gateway: Gateway,
    options: Options,
    targets: Sequence[Target],
    listener: socket.socket,
    public: str,
    provider: Provider | None,
) -> Entrance:
    """Return the entrance to the console of `gateway`, which is served at `public`."""
    callers = LocalClients(Clients(), listener.getsockname()[1])
    client = _client(callers.clients) if options.principal is not None else None
    login = Login(
        public,
        tokens=gateway.store.tokens,
        keys=gateway.keys,
        stamp=provider.stamp if provider else "",
        takes_links=provider is None,
        is_caller=None if client is None else callers.is_client,
    )
    names = tuple(target.name for target in targets)
    about = About(f"{public}/console/", names, started=time.time(), client=client)
    return Entrance(login, callers, about, provider)


def _client(clients: Clients) -> str:
    """Remember the program that started this gateway over stdio, and return its name."""
    clients.add(os.getppid())
    return clients.name_of(os.getppid()) or "a client"
