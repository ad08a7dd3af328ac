"""Calling every tool in a sensible order, with what is known by then; what came back is kept."""

from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol

from avow.catalog import Tool
from avow.verify.call import Case, Made, Outcome
from avow.verify.effect import Life
from avow.verify.stage import Stage

_MOST_DEATHS: Final = 2
"""How often a tool may end the server before it is left alone."""


class Planner(Protocol):
    """Makes cases for one tool, each with what came of those before."""

    def next(self, made: Sequence[Made]) -> Case | None:
        """The next case, given all calls of the tool until now; `None` when it has no more."""
        ...


@dataclass(slots=True)
class Log:
    """All calls of a run in their order, and those of each tool."""

    made: list[Made] = field(default_factory=list[Made])

    def of(self, name: str) -> list[Made]:
        """The calls of one tool."""
        return [one for one in self.made if one.tool == name]

    def changing_before(self, made: Made) -> list[tuple[str, Case]]:
        """The earlier calls of other tools that changed what somebody keeps, or their own state."""
        lives = (Life.USER, Life.OWN, Life.SESSION)
        earlier = self.made[: next(at for at, one in enumerate(self.made) if one is made)]
        return [
            (one.tool, one.case)
            for one in earlier
            if one.tool != made.tool
            and one.is_success
            and any(effect.life in lives for effect in one.effects)
        ]


async def explore(
    stage: Stage, tools: Sequence[Tool], plan: Callable[[Tool], Planner], log: Log
) -> AsyncGenerator[Made]:
    """Call each of `tools` on one stage, and give each call; a tool's late effects are its last's.

    Ends early where the server dies: `log` then says which tools are still to be called.
    """
    for tool in tools:
        planner = plan(tool)
        while (case := planner.next(log.of(tool.name))) is not None:
            made = await stage.call(tool.name, case)
            log.made.append(made)
            yield made
            if stage.is_dead:
                return
        if (own := log.of(tool.name)) and (late := await stage.linger()):
            at = next(i for i, one in enumerate(log.made) if one is own[-1])
            log.made[at] = stage.with_late(own[-1], late)


def is_deadly(made: Sequence[Made]) -> bool:
    """Whether a tool has ended the server too often."""
    return sum(one.outcome is Outcome.DIED for one in made) >= _MOST_DEATHS
