"""A gauge of the metrics page, read only when the page is rendered."""

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass

Reading = Iterable[tuple[tuple[str, ...], float]]
"""The values of a gauge, each preceded by the values of its labels."""


@dataclass(frozen=True, slots=True)
class Gauge:
    """A gauge with one value per set of `labels`; if `read` raises `SaysoError`, it is omitted."""

    name: str
    what: str
    read: Callable[[], Awaitable[Reading]]
    labels: tuple[str, ...] = ()
