"""All that is known of one tool when it is judged."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from sayso.catalog import Tool
from sayso.intent import HINT_NAMES, LOOSER, HintName
from sayso.trace import Effect, Kind
from sayso.verify.call import MadeCall


class Profile(StrEnum):
    """`spec` takes every overwritten value for a destructive update, as the words of MCP have it.

    By default a record that goes on under its key with other values is not destroyed, and neither
    is what can be had back.
    """

    DEFAULT = "default"
    SPEC = "spec"


@dataclass(frozen=True, slots=True)
class Claim:
    """One hint of one tool. `inferred` is set only where nothing is declared."""

    name: HintName
    declared: bool | None
    inferred: bool | None = None

    @property
    def value(self) -> bool | None:
        """What is held against the calls; `None` where nobody says anything."""
        if self.declared is None:
            return self.inferred
        return self.declared

    @property
    def is_looser(self) -> bool:
        """Whether it claims the value that permits more, which calls can show to be false."""
        return self.value is LOOSER[self.name]


def claims_of(tool: Tool) -> Mapping[HintName, Claim]:
    """The four claims of a tool, as its server declares them and its text suggests them."""
    declared = tool.intent.hints
    found: dict[HintName, Claim] = {}
    for name in HINT_NAMES:
        inferred = None
        if declared[name] is None and name in tool.inferred:
            inferred = tool.inferred[name].value
        found[name] = Claim(name, declared[name], inferred)
    return found


@dataclass(frozen=True, slots=True)
class Confirmed:
    """A suspicion that an isolated second run has shown again: the effects, by which arguments."""

    evidence: tuple[Effect, ...]
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ToolEvidence:
    """The calls of one tool in order, and what isolated runs said of the suspicions.

    `doubts` says of each suspicion that was not shown again why not. `observers` are those that
    were active. `uncalled` is why it was not called, and `limit` why nothing can be supported
    however well its calls go; both are empty where nothing stands in the way.
    """

    tool: Tool
    made: Sequence[MadeCall]
    observers: frozenset[str]
    profile: Profile = Profile.DEFAULT
    confirmed: Mapping[HintName, Confirmed] = field(default_factory=dict[HintName, Confirmed])
    doubts: Mapping[HintName, str] = field(default_factory=dict[HintName, str])
    uncalled: str = ""
    limit: str = ""

    @property
    def successes(self) -> list[MadeCall]:
        return [call for call in self.made if call.is_success]

    @property
    def is_blind(self) -> bool:
        """Whether something was done that an observer cannot look into."""
        return any(effect.kind is Kind.BLIND for made in self.made for effect in made.effects)

    def repeats(self) -> Iterator[tuple[MadeCall, MadeCall]]:
        """Each call that was made again at once with the same arguments, and that second one."""
        for first, second in zip(self.made, self.made[1:], strict=False):
            if first.case.arguments == second.case.arguments:
                yield first, second
