"""The choice of the tools that a model gets at each step."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from sayso.errors import UsageError
from sayso.intent import Level

if TYPE_CHECKING:
    from sayso.catalog import Selection, Selector

Destructive = Literal["asked", "always", "never"]
"""When destructive tools compete for selection: if the user asks for them, always, or never."""


@dataclass(frozen=True, slots=True)
class Choice:
    """The limits of a `Toolset`."""

    most: int | None = None
    tokens: int | None = None
    always: tuple[str, ...] = ()
    destructive: Destructive = "asked"

    @property
    def is_made(self) -> bool:
        return self.most is not None or self.tokens is not None

    def select(
        self, selector: "Selector", message: str | Sequence[str], bound: dict[str, str]
    ) -> "Selection":
        """Return the tools for a message. Raises `UsageError` if a name in `always` is missing.

        `bound` stores which tool each name in `always` meant at first. A tool of another server
        that later gets the same name is therefore not selected in its place.
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
        for name, target in zip(self.always, always, strict=True):
            pinned = {match.name for match in selection.chosen if target in match.entry.names()}
            if name not in bound:
                bound[name] = target if target in pinned else min(pinned)
            elif target not in pinned:
                raise UsageError(f"the tool {target!r} no longer exists", where="always")
        return selection
