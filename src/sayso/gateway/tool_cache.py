"""A cache of a server's tools by its lists; callers with the same list share the same tools."""

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
"""The time after which a process notices that a person accepted a change in another process."""

_MAX_LISTS: Final = 8
"""The maximum cached lists of one server, which may send each caller a different list."""

Judge = Callable[[Sequence[Tool]], Awaitable[tuple[list[Tool], list[str]]]]
"""A function that compares tools with known definitions, and returns the tools and problems."""


async def take_all(tools: Sequence[Tool]) -> tuple[list[Tool], list[str]]:
    """Return the tools unchanged, and no problems."""
    return [*tools], []


@dataclass(slots=True)
class ToolList:
    """The tools of one list, as `read` and as judged (`tools`), from a process of `package`."""

    entries: list[Any]
    read: list[Tool]
    invalid: list[str]
    tools: list[Tool]
    problems: list[str]
    named: dict[str, Tool]
    due: float = math.inf
    package: Package | None = None

    @property
    def is_due(self) -> bool:
        """Return whether the tools must be judged again, since a person may have decided."""
        return time.monotonic() > self.due


@dataclass(slots=True)
class ToolCache:
    """A cache of the judged tools of the server `name`, with their receipts.

    If `is_restless`, tools are judged repeatedly: another process may put one in quarantine.
    """

    name: str
    trust: Trust
    origin: str
    judge: Judge
    receipts: PackageReceipts | None = None
    is_restless: bool = False
    _tool_lists: list[ToolList] = field(default_factory=list[ToolList])

    async def read(self, entries: list[Any], package: Package | None = None) -> ToolList:
        """Return the tools of a list that came from a process running `package`."""
        for tool_list in self._tool_lists:
            if tool_list.package == package and tool_list.entries == entries:
                break
        else:

            def read(entry: tuple[int, Any]) -> Tool | str:
                return read_entry(self.name, *entry, trust=self.trust, origin=self.origin)

            results = await in_slices(enumerate(entries), read)
            tools = [result for result in results if isinstance(result, Tool)]
            invalid = [result for result in results if isinstance(result, str)]
            tool_list = ToolList(entries, tools, invalid, [], [], {}, package=package)
            self._tool_lists = [tool_list, *self._tool_lists][:_MAX_LISTS]
        await self.judge_again(tool_list)
        return tool_list

    async def judge_again(self, tool_list: ToolList) -> None:
        """Judge the tools of a list again, with the current known definitions."""
        tools, problems = await self.judge(tool_list.read)
        is_soon = self.is_restless or any(tool.before is not None for tool in tools)
        if self.receipts is not None:
            # Only after the judge, so that a receipt cannot replace a person's acceptance.
            tools = self.receipts.give(tools, tool_list.package)
        tool_list.tools = tools
        tool_list.problems = [*tool_list.invalid, *problems]
        tool_list.named = {tool.qualified_name: tool for tool in reversed(tools)}
        tool_list.due = time.monotonic() + _HELD_SECONDS if is_soon else math.inf

    def look_again(self) -> None:
        for tool_list in self._tool_lists:
            tool_list.due = -math.inf
