"""The store's location: `--store`, else `SAYSO_STORE`, else a file in the user's data folder."""

import os
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from sayso.errors import UsageError
from sayso.extras import install_fix

if TYPE_CHECKING:
    from sayso.store.database import Database
    from sayso.store.session import Driver

VARIABLE: Final = "SAYSO_STORE"
_POSTGRES: Final = ("postgresql:", "postgres:")
_HOW: Final = "Write sqlite:PATH, such as sqlite:sayso.db, or postgresql://USER@HOST/DATABASE."


def open_store(url: str | None = None) -> "Database":
    """Open the database at `url`: `sqlite:/var/lib/sayso/sayso.db` or `postgresql://…`.

    Raises `UsageError` if the URL is of another kind or its driver is not installed. Raises
    `StoreError` if the database cannot be opened.
    """
    from sayso.store.database import Database  # noqa: PLC0415

    return Database(driver_of(url))


def driver_of(url: str | None = None) -> "Driver":
    """Return the driver of the database at `url`, without opening it. Raises `UsageError`."""
    # Import only the driver that is needed.
    if is_postgres(url):
        if find_spec("psycopg") is None:
            what = "a PostgreSQL store needs the extra postgres"
            raise UsageError(what, fix=install_fix("postgres"))
        from sayso.store.postgres import PostgresDriver  # noqa: PLC0415

        return PostgresDriver(_given(url))
    from sayso.store.sqlite import SqliteDriver  # noqa: PLC0415

    return SqliteDriver(store_path(url))


def is_postgres(url: str | None = None) -> bool:
    """Return whether `url`, the environment or the default names a PostgreSQL database."""
    return _given(url).startswith(_POSTGRES)


def database_host(url: str | None = None) -> str | None:
    """Return the host in a PostgreSQL database's URL, or `None`."""
    if not is_postgres(url):
        return None
    return urlsplit(_given(url)).hostname


def store_path(url: str | None = None) -> Path:
    """Return the file that `url`, the environment or the default names."""
    given = _given(url)
    if not given:
        from platformdirs import user_data_path  # noqa: PLC0415 - only when nothing is given

        return user_data_path("sayso", appauthor=False) / "sayso.db"
    scheme, colon, rest = given.partition(":")
    where = "--store" if url else VARIABLE
    if scheme != "sqlite" or not colon or not rest.removeprefix("//"):
        what = f"{_without_password(given)!r} is not a store"
        raise UsageError(what, where=where, fix=_HOW)
    path = rest.removeprefix("//")
    if path == ":memory:":
        raise UsageError("a store must not be in memory", where=where, fix=_HOW)
    try:
        return Path(path).expanduser()
    except RuntimeError as error:
        raise UsageError(f"{error}", where=where, fix=_HOW) from error


def _given(url: str | None) -> str:
    return url or os.environ.get(VARIABLE, "")


def _without_password(url: str) -> str:
    head, at, tail = url.rpartition("@")
    if not at or not head:
        return url
    return f"…@{tail}"
