"""Calling every tool in a sensible order, with what is known by then; what came back is kept."""

from collections import Counter
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from typing import Final, Protocol

from sayso.catalog import Tool
from sayso.trace import Life
from sayso.verify.call import Case, Made
from sayso.verify.sandboxed_server import Stage

_LASTING: Final = frozenset({Life.USER, Life.OWN})
_MOST_OF_EACH: Final = 2
_MOST_BEFORE: Final = 12
"""How many calls of each other tool, and of all, are made before one that may need them."""
MOST_DEATHS: Final = 2
"""How often a tool may end the server before it is left alone."""


class Plan(Protocol):
    """Makes cases for one tool, and learns from how each of them ended."""

    def __next__(self) -> Case:
        """The next case."""
        ...

    def tell(self, case: Case, *, is_success: bool, text: str = "") -> None:
        """How it ended, and what came back."""
        ...


@dataclass(slots=True)
class Log:
    """All calls of a run in their order, and those of each tool."""

    made: list[Made] = field(default_factory=list[Made])

    def of(self, name: str) -> list[Made]:
        """The calls of one tool."""
        return [call for call in self.made if call.tool == name]

    def replace(self, made: Made, other: Made) -> None:
        """Put `other` in the place of a call."""
        self.made[next(at for at, call in enumerate(self.made) if call is made)] = other

    def changing_before(self, made: Made) -> list[tuple[str, Case]]:
        """Earlier calls of other tools that left something, which a call may need: some of each."""
        found: list[Made] = []
        for call in self.made[: next(at for at, each in enumerate(self.made) if each is made)]:
            is_other = call.tool != made.tool and call.is_success
            if is_other and any(effect.life in _LASTING for effect in call.effects):
                found.append(call)
        by_tool = Counter[str]()
        some: list[Made] = []
        for call in found:
            by_tool[call.tool] += 1
            if by_tool[call.tool] <= _MOST_OF_EACH:
                some.append(call)
        return [(call.tool, call.case) for call in some[-_MOST_BEFORE:]]


async def explore(stage: Stage, tool: Tool, plan: Plan, log: Log) -> AsyncGenerator[Made]:
    """Call one tool by its plan, and give each call; what comes late is the last one's.

    Ends early where the server dies.
    """
    last: Made | None = None
    while (case := next(plan, None)) is not None:
        last = await stage.call(tool.name, case)
        plan.tell(case, is_success=last.is_success, text=last.text)
        log.made.append(last)
        yield last
        if stage.is_dead:
            return
    if last is not None:
        log.replace(last, await stage.linger(last))
