"""A gauge of the metrics page, read only when the page is made."""

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass

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
