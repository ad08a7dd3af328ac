"""What was selected, and why."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from avow.catalog.tool import Tool

Why = Literal["excluded", "not asked for", "no word in common", "fits less", "over the budget"]
"""Why a tool was left out."""


@dataclass(frozen=True)
class Chosen:
    """One tool that was selected; the higher its `score`, the better it fits, up to 1."""

    tool: Tool
    name: str
    score: float
    is_pinned: bool = False
    explain: Callable[[], tuple[str, ...]] = field(default=tuple, repr=False, compare=False)

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why it was chosen, in words; worked out when it is asked for."""
        return self.explain()


@dataclass(frozen=True)
class Selection:
    """The tools that were chosen of `total`: those that are pinned, then the others by their fit.

    `left_out` counts the others by the reason.
    """

    chosen: tuple[Chosen, ...]
    total: int
    left_out: Mapping[Why, int]

    @property
    def names(self) -> tuple[str, ...]:
        """What the tools are called, in their order."""
        return tuple(one.name for one in self.chosen)

    @property
    def tools(self) -> tuple[Tool, ...]:
        """The tools, in their order."""
        return tuple(one.tool for one in self.chosen)
