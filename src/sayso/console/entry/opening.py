"""From what an access.toml says of the console to whom people log in with."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from sayso.access import Console
from sayso.connect import open_fetcher
from sayso.console.entry.oidc import Provider
from sayso.console.home import CALLBACK
from sayso.keys import Keyring
from sayso.store import Tokens


@asynccontextmanager
async def open_provider(
    settings: Console | None, tokens: Tokens, keys: Keyring, *, url: str
) -> AsyncGenerator[Provider | None]:
    """Whom people log in with, if anybody; the console is reached at `url`.

    Nothing is fetched before somebody logs in.
    """
    if settings is None:
        yield None
        return
    async with open_fetcher() as fetcher:
        yield Provider(settings, fetcher, f"{url.rstrip('/')}{CALLBACK}", tokens, keys)
