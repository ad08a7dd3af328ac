"""What the commands on the store share: opening it, its keys, and how far the work is."""

from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import anyio

from sayso.cli.terminal import talk
from sayso.errors import UsageError
from sayso.keys import Keyring, load_keys
from sayso.store import Database, is_postgres, open_store, store_path


@asynccontextmanager
async def opened(url: str | None, *, is_new: bool = False) -> AsyncGenerator[Database]:
    """The store at `url`, closed afterwards. A file is made only where `is_new` says so."""
    if not is_new and not is_postgres(url) and not store_path(url).exists():
        fix = "Give the right one with --store or SAYSO_STORE."
        raise UsageError("there is no store", where=str(store_path(url)), fix=fix)
    store = open_store(url)
    try:
        yield store
    finally:
        with anyio.CancelScope(shield=True):
            await store.close()


def keys_of(url: str | None) -> Keyring:
    """The keys of the store at `url`; they are there already, or it is an error."""
    return load_keys(beside(url))


def place_of(url: str | None) -> str:
    """Where a command has looked, for whoever meant another store."""
    return "this database" if is_postgres(url) else str(store_path(url))


def beside(url: str | None) -> Path | None:
    """The file that the keys of a store are kept beside, if it is a file."""
    return None if is_postgres(url) else store_path(url)


@contextmanager
def counting(what: str, total: int) -> Generator[Callable[[int], None]]:
    """Show how many of `total` are done; only on a terminal."""
    console = talk()
    if not console.is_terminal:
        yield lambda _: None
        return
    with console.status(what) as status:
        yield lambda done: status.update(f"{what}: {done:,} of {total:,}")
