"""The calls that a filter finds, as a file: written while it is read, however many there are."""

from collections.abc import AsyncGenerator, Mapping
from itertools import islice
from typing import Final

from sayso.audit import Filter, export, search
from sayso.store import Records

TYPES: Final[Mapping[str, str]] = {"jsonl": "application/jsonl", "csv": "text/csv"}
_PAGE: Final = 500
_HEADINGS: Final[Mapping[str, int]] = {"jsonl": 0, "csv": 1}


async def exported(records: Records, wanted: Filter, form: str) -> AsyncGenerator[str]:
    """The last line of each call that is wanted, newest first; `form` is one of `TYPES`."""
    before: int | None = None
    skipped = 0
    while True:
        found = await search(records, wanted, before=before, limit=_PAGE)
        # The heading of a table stands once.
        yield "".join(islice(export(found.rows, form), skipped, None))
        if found.older is None:
            return
        before = found.older
        skipped = _HEADINGS[form]
