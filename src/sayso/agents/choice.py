"""How few tools a model gets at each step, and which."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from sayso.errors import UsageError
from sayso.intent import Level

if TYPE_CHECKING:
    from sayso.catalog import Selection, Selector

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

    def select(
        self, selector: "Selector", message: str | Sequence[str], bound: dict[str, str]
    ) -> "Selection":
        """The tools for a message. Raises `UsageError` for a pinned name that is not there.

        `bound` keeps which tool each pinned name was at first: no tool of another server that takes
        its name later is pinned in its place, or makes the name one that several have.
        """
        always = [bound.get(name, name) for name in self.always]
        levels = {self.destructive: (Level.DESTRUCTIVE,)}
        selection = selector.select(
            message,
            self.most,
            tokens=self.tokens,
            always=always,
            exclude=levels.get("never", ()),
            unless_asked=levels.get("asked", ()),
        )
        for name, said in zip(self.always, always, strict=True):
            pinned = {
                chosen_tool.name
                for chosen_tool in selection.chosen
                if said in chosen_tool.entry.names()
            }
            if name not in bound:
                bound[name] = said if said in pinned else min(pinned)
            elif said not in pinned:
                raise UsageError(f"the tool {said!r} is not there any more", where="always")
        return selection
