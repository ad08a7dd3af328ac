"""Copying a whole database into another: every row as it is, with its number."""

from collections.abc import Callable
from typing import Final

from sayso.errors import UsageError
from sayso.store.database import Database

_PAGE: Final = 1000
_ALL: Final = 2**31 - 1


async def move_store(
    source: Database, target: Database, progress: Callable[[int], None] = lambda _: None
) -> int:
    """Copy all records and questions into an empty store; gives the number of records.

    The source stays as it is. Nothing may write to either meanwhile. Raises `UsageError` where
    the target holds something, `StoreError` when a database fails: then begin with an empty one.
    """
    asked = await target.questions.newest(now=0.0, limit=1)
    if asked or await target.records.count() or await target.api_keys.all():
        fix = "Move into an empty database."
        raise UsageError("this store is not empty", where=target.where, fix=fix)
    moved = 0
    after = 0
    while rows := await source.records.scan(after, _PAGE):
        await target.load(rows)
        moved = moved + len(rows)
        after = rows[-1].seq
        progress(moved)
    # At the beginning of time nothing has expired yet, so each row comes as it was written.
    await target.load([], await source.questions.newest(now=0.0, limit=_ALL), await source.dump())
    return moved
