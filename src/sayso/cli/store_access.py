"""Store access for commands: open the database, load its keys, show progress."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import TypeVar

import anyio

from sayso.cli.terminal import talk
from sayso.errors import UsageError
from sayso.keys import Keyring, load_keys
from sayso.store import Database, is_postgres, open_store, store_path

T = TypeVar("T")


@asynccontextmanager
async def opened(url: str | None, *, is_new: bool = False) -> AsyncGenerator[Database]:
    """Open the store at `url`; with `is_new`, create a missing file."""
    if not is_new:
        check_exists(url)
    store = open_store(url)
    try:
        yield store
    finally:
        with anyio.CancelScope(shield=True):
            await store.close()


def check_exists(url: str | None) -> None:
    """Raise `UsageError` if the store at `url` is a file that does not exist."""
    if not is_postgres(url) and not store_path(url).exists():
        fix = "Set --store or SAYSO_STORE."
        raise UsageError("store not found", where=str(store_path(url)), fix=fix)


def run_on(url: str | None, work: Callable[[Database], Awaitable[T]], *, is_new: bool = False) -> T:
    """Open the store at `url`, run `work` on it, and close it."""

    async def run() -> T:
        async with opened(url, is_new=is_new) as store:
            return await work(store)

    return anyio.run(run)


def keys_of(url: str | None) -> Keyring:
    """Return the keys of the store at `url`. Raises `KeysError` if they are missing."""
    return load_keys(beside(url))


def place_of(url: str | None) -> str:
    """Return the store's location for a message."""
    return str(beside(url) or "this database")


def beside(url: str | None) -> Path | None:
    """Return the store's file, which has the keys beside it; `None` for PostgreSQL."""
    return None if is_postgres(url) else store_path(url)


@contextmanager
def counting(what: str, total: int) -> Generator[Callable[[int], None]]:
    """Show progress out of `total`, only on a terminal."""
    console = talk()
    if not console.is_terminal:
        yield lambda _: None
        return
    with console.status(what) as status:
        yield lambda done: status.update(f"{what}: {done:,} of {total:,}")
