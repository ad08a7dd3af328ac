"""Where the store is: `--store`, else `AVOW_STORE`, else a file in the user's data folder."""

import os
from pathlib import Path
from typing import Final

from avow.errors import UsageError
from avow.store.interface import Store

VARIABLE: Final = "AVOW_STORE"
_HOW: Final = "Write sqlite:PATH, such as sqlite:avow.db."


def open_store(url: str | None = None) -> Store:
    """Open the store at `url`, such as `sqlite:/var/lib/avow/avow.db`.

    Raises `UsageError` for a URL of another kind, `StoreError` when it cannot be opened.
    """
    from avow.store.sqlite import open_sqlite  # noqa: PLC0415 - a driver is imported when it is chosen

    return open_sqlite(store_path(url))


def store_path(url: str | None = None) -> Path:
    """The file that `url`, the environment or the default names."""
    given = url or os.environ.get(VARIABLE)
    if not given:
        from platformdirs import user_data_path  # noqa: PLC0415 - only when nothing is given

        return user_data_path("avow", appauthor=False) / "avow.db"
    scheme, colon, rest = given.partition(":")
    if scheme != "sqlite" or not colon or not rest.removeprefix("//"):
        where = "--store" if url else VARIABLE
        what = f"{_without_password(given)!r} is not a store"
        raise UsageError(what, where=where, fix=_HOW)
    path = rest.removeprefix("//")
    if path == ":memory:":
        raise UsageError("a store in memory keeps nothing", where="--store", fix=_HOW)
    try:
        return Path(path).expanduser()
    except RuntimeError as error:
        raise UsageError(f"{error}", where="--store", fix=_HOW) from error


def _without_password(url: str) -> str:
    head, at, tail = url.rpartition("@")
    return f"…@{tail}" if at and head else url
