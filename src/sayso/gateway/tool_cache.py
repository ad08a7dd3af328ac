"""A cache of a server's tools by its lists: the same list makes the same tools for all callers."""

import math
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from sayso.catalog import Tool, read_entry
from sayso.gateway.receipts import PackageReceipts
from sayso.intent import Package, Trust
from sayso.slices import in_slices

_HELD_SECONDS: Final = 2.0
"""How soon it is seen that a person has accepted a change, in whatever process."""

_MOST: Final = 8
"""How many different lists of one server are remembered; it may give each caller its own."""

Judge = Callable[[Sequence[Tool]], Awaitable[tuple[list[Tool], list[str]]]]
"""Compares tools with what they were: gives them as they count, and what is wrong."""


async def take_all(tools: Sequence[Tool]) -> tuple[list[Tool], list[str]]:
    """Take tools as they are."""
    return [*tools], []


@dataclass(slots=True)
class ToolList:
    """The tools of one list as `read`, and as they count now. `package` is its process's."""

    entries: list[Any]
    read: list[Tool]
    wrong: list[str]
    tools: list[Tool]
    problems: list[str]
    named: dict[str, Tool]
    due: float = math.inf
    package: Package | None = None

    @property
    def is_due(self) -> bool:
        """Whether some of them wait for a person, who may have spoken by now."""
        return time.monotonic() > self.due


@dataclass(slots=True)
class ToolCache:
    """Reads the lists of the server `name`, has its tools judged, and gives them their receipts.

    One that `is_restless` has them judged again and again: another process may have found fault.
    """

    name: str
    trust: Trust
    origin: str
    judge: Judge
    receipts: PackageReceipts | None = None
    is_restless: bool = False
    _tool_lists: list[ToolList] = field(default_factory=list[ToolList])

    async def read(self, entries: list[Any], package: Package | None = None) -> ToolList:
        """The tools of a list that a process of `package` has just given."""
        found = next(
            (
                tool_list
                for tool_list in self._tool_lists
                if tool_list.package == package and tool_list.entries == entries
            ),
            None,
        )
        if found is None:

            def read(entry: tuple[int, Any]) -> Tool | str:
                return read_entry(self.name, *entry, trust=self.trust, origin=self.origin)

            known = await in_slices(enumerate(entries), read)
            tools = [entry for entry in known if isinstance(entry, Tool)]
            wrong = [entry for entry in known if isinstance(entry, str)]
            found = ToolList(entries, tools, wrong, [], [], {}, package=package)
            self._tool_lists = [found, *self._tool_lists][:_MOST]
        await self.judge_again(found)
        return found

    async def judge_again(self, tool_list: ToolList) -> None:
        """Have the tools of a list compared with what they were, as it is known by now."""
        tools, problems = await self.judge(tool_list.read)
        is_soon = self.is_restless or any(tool.before is not None for tool in tools)
        if self.receipts is not None:
            # After they were judged: a receipt lets no change by that a person must accept.
            tools = self.receipts.give(tools, tool_list.package)
        tool_list.tools = tools
        tool_list.problems = [*tool_list.wrong, *problems]
        tool_list.named = {tool.qualified_name: tool for tool in reversed(tools)}
        tool_list.due = time.monotonic() + _HELD_SECONDS if is_soon else math.inf

    def look_again(self) -> None:
        for tool_list in self._tool_lists:
            tool_list.due = -math.inf
