"""A gauge of the metrics page, read only when the page is rendered."""

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass

Reading = Iterable[tuple[tuple[str, ...], float]]
"""Values, each with its labels' values."""


@dataclass(frozen=True, slots=True)
class Gauge:
    """A gauge with one value per set of `labels`; omitted if `read` raises `SaysoError`."""

    name: str
    what: str
    read: Callable[[], Awaitable[Reading]]
    labels: tuple[str, ...] = ()
