"""What is suspected of a tool, and what cleared it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from sayso.intent import HintName
from sayso.verify.call import Case, MadeCall

VOLATILE: Final = "a repeated call changes only times and random values"


@dataclass(frozen=True, slots=True)
class Cleared:
    """The result for a suspicion that is harmless, with the reason."""

    reason: str


@dataclass(frozen=True, slots=True)
class Suspicion:
    """A call `made` that contradicts a hint. `before` are earlier calls of the tool, in order.

    `prelude` are earlier calls of other tools that changed something; the call may need them.
    `harmless` are calls of other tools that had no effect, and `others` calls of any other tools;
    both are for controls.
    """

    name: HintName
    made: MadeCall
    before: Sequence[MadeCall]
    prelude: Sequence[tuple[str, Case]] = field(default=())
    harmless: Sequence[tuple[str, Case]] = field(default=())
    others: Sequence[tuple[str, Case]] = field(default=())

    @property
    def times(self) -> int:
        """Return how often the call must be made: twice for `idempotent`, once for other hints."""
        return 2 if self.name == "idempotent" else 1

    def ways(self) -> Iterable[list[tuple[str, Case]]]:
        """Yield sequences of calls that may reproduce the effect, shortest first."""
        tool = self.made.tool
        case = self.made.case
        alone = [(tool, case)] * self.times
        with_earlier = [(tool, call.case) for call in self.before] + [(tool, case)]
        yield alone
        if len(with_earlier) > len(alone):
            yield with_earlier
        if self.prelude:
            yield [*self.prelude, *alone]
