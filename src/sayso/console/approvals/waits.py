"""Whether an agent still waits for an answer, as far as the log tells."""

import json
from collections.abc import Iterable, Mapping
from typing import Final

from sayso.audit import Event
from sayso.store import RecordRow

_GRACE: Final = 5.0


def read_waits(
    rows: Iterable[RecordRow], *, patience: float, now: float
) -> Mapping[int, float | None]:
    """For each question in `rows`, newest first: when the last of its calls stopped waiting.

    That is `None` while one waits. A call that is silent for longer than the `patience` in seconds
    waits no more: then sayso itself has ended.
    """
    ends: dict[str, float] = {}
    waits: dict[int, float | None] = {}
    for row in rows:
        if row.event != Event.ASKED:
            ends.setdefault(row.call, row.at)
            continue
        number = json.loads(row.body)["approval"]
        end = ends.get(row.call)
        if end is None and now > row.at + patience + _GRACE:
            end = row.at + patience
        last = waits.get(number, end)
        waits[number] = None if last is None or end is None else max(last, end)
    return waits
