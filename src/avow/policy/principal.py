"""Who calls."""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Principal:
    """A caller: who it is, through which client it calls, and what it may see.

    `scopes` is `None` where nobody hands out scopes or roles: a person's own machine, without
    authentication. `is_local` says that it calls from such a machine all the same: an author has
    said what it may see, and nobody has proved who it is.
    """

    subject: str
    client: str = "unknown"
    scopes: frozenset[str] | None = None
    roles: frozenset[str] = frozenset()
    is_local: bool = False

    @property
    def is_known(self) -> bool:
        """Whether it has proved who it is; then the person at its client is itself."""
        return self.scopes is not None and not self.is_local


LOCAL: Final = "local"
"""The subject of every caller on a machine without authentication."""
