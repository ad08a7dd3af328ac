"""Who calls."""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Principal:
    """A caller: who it is, through which client it calls, and what it may see.

    `scopes` is `None` where nobody hands out scopes or roles: a person's own machine, without
    authentication.
    """

    subject: str
    client: str = "unknown"
    scopes: frozenset[str] | None = None
    roles: frozenset[str] = frozenset()


LOCAL: Final = "local"
"""The subject of every caller on a machine without authentication."""
