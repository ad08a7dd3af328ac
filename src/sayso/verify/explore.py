"""Exploration: call a tool by its plan, in the light of earlier results."""

from collections import Counter
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from typing import Final

from sayso.catalog import Tool
from sayso.trace import Life
from sayso.verify.call import Case, MadeCall
from sayso.verify.inputs.plan import Plan
from sayso.verify.observed_server import ObservedServer

_LASTING: Final = frozenset({Life.USER, Life.OWN})
_MOST_OF_EACH: Final = 2
_MOST_BEFORE: Final = 12
"""Earlier calls of each other tool, and in total, before a call that may need them."""
MOST_DEATHS: Final = 2
"""A tool that ended the server this often is not called again."""


@dataclass(slots=True)
class Log:
    """The calls of a run in order."""

    made: list[MadeCall] = field(default_factory=list[MadeCall])

    def of(self, name: str) -> list[MadeCall]:
        return [call for call in self.made if call.tool == name]

    def before(self, made: MadeCall) -> list[MadeCall]:
        """Return the calls before one."""
        return self.made[: next(at for at, call in enumerate(self.made) if call is made)]

    def changing_before(self, made: MadeCall) -> list[tuple[str, Case]]:
        """Return earlier calls of other tools that left something, which a call may need."""
        by_tool = Counter[str]()
        found: list[tuple[str, Case]] = []
        for call in self.before(made):
            is_lasting = any(effect.life in _LASTING for effect in call.effects)
            if call.tool != made.tool and call.is_success and is_lasting:
                by_tool[call.tool] += 1
                if by_tool[call.tool] <= _MOST_OF_EACH:
                    found.append((call.tool, call.case))
        return found[-_MOST_BEFORE:]


async def explore(
    stage: ObservedServer, tool: Tool, plan: Plan, log: Log
) -> AsyncGenerator[MadeCall]:
    """Call one tool by its plan and yield each call; late effects belong to the last one.

    Ends early if the server dies.
    """
    last: MadeCall | None = None
    while (case := next(plan, None)) is not None:
        last = await stage.call(tool.name, case)
        plan.tell(case, is_success=last.is_success, text=last.text)
        log.made.append(last)
        yield last
        if stage.is_dead:
            return
    if last is not None:
        log.made[len(log.before(last))] = await stage.linger(last)
