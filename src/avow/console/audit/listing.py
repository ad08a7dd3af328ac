"""One page of the log: the calls that a filter finds, each with all its lines."""

from dataclasses import dataclass
from typing import Final

from avow.audit import AuditLog, merged
from avow.audit.search import Filter, Found, search
from avow.console.audit.calls import Line, LoggedCall, read_calls
from avow.store import RecordRow, Store

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

    @property
    def back_to(self) -> float | None:
        """How old the oldest call shown is."""
        return self.calls[-1].last.at if self.calls else None


async def list_calls(log: AuditLog, wanted: Filter, before: int | None = None) -> Listing:
    """The newest calls that are wanted, of those before a sequence number."""
    found = await search(log.store, wanted, before=before, limit=PAGE, seconds=SECONDS)
    _, newest = await log.store.bounds()
    return Listing(await with_lines(log.store, found.rows), found, newest)


async def with_lines(store: Store, last: list[RecordRow]) -> list[LoggedCall]:
    """Calls with all their lines, given the last of each; in the same order."""
    rows = await store.of_calls([row.call for row in last if row.call])
    whole = {one.last.call: one for one in read_calls(map(merged, reversed(rows)))}
    # A line about the log itself is of no call: it stands alone.
    return [whole.get(row.call) or LoggedCall((Line.from_row(row),)) for row in last]
