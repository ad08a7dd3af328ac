"""How few tools a model gets at each step, and which."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from avow.intent import Level

if TYPE_CHECKING:
    from avow.catalog import Selection, Selector

Destructive = Literal["asked", "always", "never"]
"""When tools that destroy are among those selected: where the message asks for them, or so."""


@dataclass(frozen=True, slots=True)
class Choice:
    """What a `Toolset` was told of it."""

    most: int | None = None
    tokens: int | None = None
    always: tuple[str, ...] = ()
    destructive: Destructive = "asked"

    @property
    def is_made(self) -> bool:
        """Whether there is a choice at all."""
        return self.most is not None or self.tokens is not None

    def select(self, selector: "Selector", message: str | Sequence[str]) -> "Selection":
        """The tools for a message. Raises `UsageError` for a pinned name that is not there."""
        return selector.select(
            message,
            self.most,
            tokens=self.tokens,
            always=self.always,
            exclude=(Level.DESTRUCTIVE,) if self.destructive == "never" else (),
            unless_asked=(Level.DESTRUCTIVE,) if self.destructive == "asked" else (),
        )
