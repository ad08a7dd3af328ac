"""One page of the log: the calls that a filter finds, each with all its lines."""

from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Final

from sayso.audit import AuditLog, Filter, Found, export, merged, search
from sayso.console.audit.calls import Line, LoggedCall, read_calls
from sayso.store import RecordRow, Records

TYPES: Final[Mapping[str, str]] = {"jsonl": "application/jsonl", "csv": "text/csv"}
_HEADINGS: Final[Mapping[str, int]] = {"jsonl": 0, "csv": 1}
_EXPORTED_AT_ONCE: Final = 500

PAGE: Final = 50
"""How many calls a page shows."""
SECONDS: Final = 0.08
"""How long is looked for them, about."""


@dataclass(frozen=True, slots=True)
class Listing:
    """Calls, newest first, and what the search of them came to; `newest` is the log's last line."""

    calls: list[LoggedCall]
    found: Found
    newest: int


async def list_calls(log: AuditLog, wanted: Filter, before: int | None = None) -> Listing:
    """The newest calls that are wanted, of those before a sequence number."""
    found = await search(log.records, wanted, before=before, limit=PAGE, seconds=SECONDS)
    _, newest = await log.records.bounds()
    return Listing(await with_lines(log.records, found.rows), found, newest)


async def with_lines(records: Records, last: list[RecordRow]) -> list[LoggedCall]:
    """Calls with all their lines, given the last of each; in the same order."""
    rows = await records.of_calls([row.call for row in last if row.call])
    whole = {call.last.call: call for call in read_calls(map(merged, reversed(rows)))}
    # A line about the log itself is of no call: it stands alone.
    return [whole.get(row.call) or LoggedCall((Line.from_row(row),)) for row in last]


async def exported(records: Records, wanted: Filter, form: str) -> AsyncGenerator[str]:
    """The last line of each call that is wanted, newest first; `form` is one of `TYPES`."""
    before: int | None = None
    skipped = 0
    while True:
        found = await search(records, wanted, before=before, limit=_EXPORTED_AT_ONCE)
        # The heading of a table stands once.
        yield "".join(islice(export(found.rows, form), skipped, None))
        if found.older is None:
            return
        before = found.older
        skipped = _HEADINGS[form]
