"""Where the store is: `--store`, else `AVOW_STORE`, else a file in the user's data folder."""

import os
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from avow.errors import UsageError
from avow.store.interface import Store

VARIABLE: Final = "AVOW_STORE"
_POSTGRES: Final = ("postgresql:", "postgres:")


def open_store(url: str | None = None) -> Store:
    """Open the store at `url`: `sqlite:/var/lib/avow/avow.db` or `postgresql://…`.

    Raises `UsageError` for a URL of another kind or a driver that is missing, `StoreError` when
    it cannot be opened.
    """
    # Each driver is imported when it is chosen.
    if is_postgres(url):
        if find_spec("psycopg") is None:
            fix = "Install it: pip install 'avow[postgres]'."
            raise UsageError("a PostgreSQL store needs the extra postgres", fix=fix)
        from avow.store.postgres import open_postgres  # noqa: PLC0415

        return open_postgres(_given(url))
    from avow.store.sqlite import open_sqlite  # noqa: PLC0415

    return open_sqlite(store_path(url))


def is_postgres(url: str | None = None) -> bool:
    """Whether `url`, the environment or the default names a PostgreSQL database."""
    return _given(url).startswith(_POSTGRES)


def store_path(url: str | None = None) -> Path:
    """The file that `url`, the environment or the default names."""
    given = _given(url)
    if not given:
        from platformdirs import user_data_path  # noqa: PLC0415 - only when nothing is given

        return user_data_path("avow", appauthor=False) / "avow.db"
    scheme, colon, rest = given.partition(":")
    if scheme != "sqlite" or not colon or not rest.removeprefix("//"):
        where = "--store" if url else VARIABLE
        what = f"{_without_password(given)!r} is not a store"
        fix = "Write sqlite:PATH, such as sqlite:avow.db, or postgresql://USER@HOST/DATABASE."
        raise UsageError(what, where=where, fix=fix)
    return Path(rest.removeprefix("//")).expanduser()


def _given(url: str | None) -> str:
    return url or os.environ.get(VARIABLE, "")


def _without_password(url: str) -> str:
    head, at, tail = url.rpartition("@")
    return f"…@{tail}" if at and head else url
