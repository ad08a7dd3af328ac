"""Login to the console of the gateway that this process runs."""

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
class ConsoleLogin:
    """Login sessions and links for people. Local clients get none; with `provider`, no links."""

    login: Login
    callers: LocalClients
    about: About
    provider: Provider | None

    def first_link(self) -> str | None:
        """Return a login link to print; `None` with a provider, or if a client reads stderr."""
        if self.provider or self.about.client is not None:
            return None
        return self.login.link()

    @asynccontextmanager
    async def serving(self, worker: Worker | None) -> AsyncGenerator[None]:
        """Answer requests of `sayso console`; of several workers, only the first answers."""
        if worker is not None and not worker.speaks:
            yield
            return
        link = None if self.provider else self.login.link
        server = LinkServer(self.about, link, self.callers.clients, self.callers.look)
        async with serving_links(server):
            yield


def make_console_login(
    gateway: Gateway,
    options: Options,
    targets: Sequence[Target],
    listener: socket.socket,
    public: str,
    provider: Provider | None,
) -> ConsoleLogin:
    """Return the login to the console of `gateway`, which is served at `public`."""
    callers = LocalClients(Clients(), listener.getsockname()[1])
    client = None
    is_caller = None
    if options.principal is not None:
        # The program that started this gateway over stdio is its client.
        callers.clients.add(os.getppid())
        client = callers.clients.name_of(os.getppid()) or "a client"
        is_caller = callers.is_client
    login = Login(
        public,
        tokens=gateway.store.tokens,
        keys=gateway.keys,
        stamp=provider.stamp if provider else "",
        takes_links=provider is None,
        is_caller=is_caller,
    )
    names = tuple(target.name for target in targets)
    about = About(f"{public}/console/", names, started=time.time(), client=client)
    return ConsoleLogin(login, callers, about, provider)
