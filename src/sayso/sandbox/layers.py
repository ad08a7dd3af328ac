"""What contains a server and what watches it, as far as this machine has them."""

from dataclasses import dataclass
from typing import Any

from sayso.intent import CONTAINING

__all__ = ["CONTAINING", "Layer"]


@dataclass(frozen=True, slots=True)
class Layer:
    """One layer of containment or one observer, and whether it is active.

    `name` is one of `sayso.intent.LAYERS`. `detail` says how it was had, or why it was not.
    """

    name: str
    is_active: bool
    detail: str = ""

    def to_dict(self) -> dict[str, Any]:
        """`{"name": …, "active": …, "detail": …}`."""
        return {"name": self.name, "active": self.is_active, "detail": self.detail}
