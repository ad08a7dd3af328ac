"""What stands at a moment: read when somebody looks, and only then."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field

from sayso.errors import SaysoError

Reading = Iterable[tuple[tuple[str, ...], float]]
"""Values, each with the words of its labels."""


@dataclass(frozen=True, slots=True)
class Gauge:
    """A number that goes up and down, one for each set of `labels`.

    `read` may raise a `SaysoError`: then it is left out.
    """

    name: str
    what: str
    read: Callable[[], Awaitable[Reading]]
    labels: tuple[str, ...] = ()


@dataclass(slots=True)
class Gauges:
    """All gauges. One whose reading hangs is left out, and not read anew until it is over."""

    all: list[Gauge] = field(default_factory=list[Gauge])
    _under_way: dict[str, asyncio.Task[Reading | None]] = field(
        default_factory=dict[str, asyncio.Task[Reading | None]]
    )

    async def read(self, seconds: float) -> Sequence[tuple[Gauge, Reading]]:
        """What can be read of them within so many seconds."""
        for gauge in self.all:
            if gauge.name not in self._under_way:
                self._under_way[gauge.name] = asyncio.create_task(_read(gauge))
        if self.all:
            await asyncio.wait(self._under_way.values(), timeout=seconds)
        found: list[tuple[Gauge, Reading]] = []
        for gauge in self.all:
            if self._under_way[gauge.name].done():
                reading = self._under_way.pop(gauge.name).result()
                found += [] if reading is None else [(gauge, reading)]
        return found


async def _read(gauge: Gauge) -> Reading | None:
    try:
        return await gauge.read()
    except SaysoError:
        # A store that fails is told of by its errors; the rest still stands.
        return None
