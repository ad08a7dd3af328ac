"""From what an access.toml says of the console to whom people log in with."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from importlib.util import find_spec

from avow.access import Console
from avow.connect.fetch import open_fetcher
from avow.console.entry.oidc import Provider
from avow.console.home import CALLBACK
from avow.errors import UsageError
from avow.extras import install_fix
from avow.keys import Keyring
from avow.store import Store


@asynccontextmanager
async def open_provider(
    settings: Console | None, store: Store, keys: Keyring, *, url: str
) -> AsyncGenerator[Provider | None]:
    """Whom people log in with, if anybody; the console is reached at `url`.

    Nothing is fetched before somebody logs in. Raises `UsageError` without the extra `oidc`.
    """
    if settings is None:
        yield None
        return
    if find_spec("authlib") is None:
        what = "[console] needs authlib"
        raise UsageError(what, where="--access", fix=install_fix("oidc"))
    async with open_fetcher() as fetcher:
        yield Provider(settings, fetcher, f"{url.rstrip('/')}{CALLBACK}", store, keys)
