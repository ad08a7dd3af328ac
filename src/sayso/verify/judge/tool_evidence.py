"""All that is known of one tool when it is judged."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sayso.catalog import Tool
from sayso.intent import HintName
from sayso.trace import Effect, Kind
from sayso.verify.call import Made
from sayso.verify.judge.profile import Profile


@dataclass(frozen=True, slots=True)
class Confirmed:
    """A suspicion that an isolated second run has shown again: the effects, by which arguments."""

    evidence: tuple[Effect, ...]
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Hearing:
    """The calls of one tool in order, and what isolated runs said of the suspicions.

    `doubts` says of each suspicion that was not shown again why not. `observers` are those that
    were active. `uncalled` is why it was not called, and `limit` why nothing can be supported
    however well its calls go; both are empty where nothing stands in the way.
    """

    tool: Tool
    made: Sequence[Made]
    observers: frozenset[str]
    profile: Profile = Profile.DEFAULT
    confirmed: Mapping[HintName, Confirmed] = field(default_factory=dict[HintName, Confirmed])
    doubts: Mapping[HintName, str] = field(default_factory=dict[HintName, str])
    uncalled: str = ""
    limit: str = ""

    @property
    def successes(self) -> list[Made]:
        """The calls that can support something."""
        return [call for call in self.made if call.is_success]

    @property
    def is_blind(self) -> bool:
        """Whether something was done that an observer cannot look into."""
        return any(effect.kind is Kind.BLIND for made in self.made for effect in made.effects)

    def repeats(self) -> Iterator[tuple[Made, Made]]:
        """Each call that was made again at once with the same arguments, and that second one."""
        for first, second in zip(self.made, self.made[1:], strict=False):
            if first.case.arguments == second.case.arguments:
                yield first, second
