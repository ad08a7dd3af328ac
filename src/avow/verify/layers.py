"""What contains a server and what watches it, as far as this machine has them."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Layer:
    """One layer of containment or one observer, and whether it is active.

    `name` is one of `root`, `users`, `processes`, `network`, `private`, `limits`, `overlay`,
    `syscalls`, `files`, `sqlite`, `postgres`, `output`, `hook`, `probe`. `detail` says how it was
    had, or why it was not.
    """

    name: str
    is_active: bool
    detail: str = ""

    def to_dict(self) -> dict[str, Any]:
        """`{"name": …, "active": …, "detail": …}`."""
        return {"name": self.name, "active": self.is_active, "detail": self.detail}


CONTAINING = frozenset({"root", "users", "processes", "network", "private"})
"""The layers without which nothing is run, unless `--uncontained` is typed out."""
