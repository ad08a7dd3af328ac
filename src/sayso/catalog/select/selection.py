"""What was selected, and why."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from sayso.catalog.select.entry import Entry
from sayso.catalog.select.needs import Need
from sayso.catalog.select.reasons import explain_fit
from sayso.catalog.tool import Tool

Why = Literal["excluded", "not asked for", "no word in common", "fits less", "over the budget"]
"""Why a tool was left out."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """One tool that was selected; the higher its `score`, the better it fits, up to 1."""

    entry: Entry
    score: float
    is_pinned: bool = False
    needs: Sequence[Sequence[Need]] = field(default=(), repr=False, compare=False)

    @property
    def name(self) -> str:
        """What it is called among the tools of many servers."""
        return self.entry.qualified_name

    @property
    def tool(self) -> Tool:
        """The tool, with its level."""
        return self.entry.tool

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why it was chosen, in words; worked out anew each time."""
        found = explain_fit(self.entry, self.needs)
        return ("pinned", *found) if self.is_pinned else found


@dataclass(frozen=True, slots=True)
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
        return tuple(tool.name for tool in self.chosen)

    @property
    def tools(self) -> tuple[Tool, ...]:
        """The tools, in their order."""
        return tuple(tool.tool for tool in self.chosen)
