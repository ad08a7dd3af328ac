"""All evidence about one tool."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

from sayso.catalog import Tool
from sayso.intent import HINT_NAMES, LOOSER, HintName
from sayso.schema import cut
from sayso.trace import Effect, Kind
from sayso.verify.call import MadeCall, Outcome

_LONGEST: Final = 300
_ENDED: Final[Mapping[Outcome, str]] = {
    Outcome.TIMEOUT: "the call took too long",
    Outcome.DIED: "the server ended during the call",
}


class Profile(StrEnum):
    """The meaning of destructive. With `spec`, as in MCP, every overwritten value is destroyed.

    By default, a record that keeps its key and content that can be recovered are not destroyed.
    """

    DEFAULT = "default"
    SPEC = "spec"


@dataclass(frozen=True, slots=True)
class Claim:
    """One hint of a tool. `inferred` is set only if nothing is declared."""

    name: HintName
    declared: bool | None
    inferred: bool | None = None

    @property
    def value(self) -> bool | None:
        """Return the declared value, else the inferred value, else `None`."""
        if self.declared is None:
            return self.inferred
        return self.declared

    @property
    def is_looser(self) -> bool:
        """Return whether the claimed value permits more. Only such a value can be refuted."""
        return self.value is LOOSER[self.name]


def claims_of(tool: Tool) -> Mapping[HintName, Claim]:
    """Return the four claims of a tool, declared by its server or inferred from its text."""
    declared = tool.intent.hints
    claims: dict[HintName, Claim] = {}
    for name in HINT_NAMES:
        inferred = None
        if declared[name] is None and name in tool.inferred:
            inferred = tool.inferred[name].value
        claims[name] = Claim(name, declared[name], inferred)
    return claims


@dataclass(frozen=True, slots=True)
class Confirmed:
    """A suspicion that an isolated run reproduced: its effects and arguments."""

    evidence: tuple[Effect, ...]
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ToolEvidence:
    """The calls of one tool in order, and the results of isolated runs.

    `doubts` are the reasons why suspicions were not reproduced, `cleared` those why the effect is
    harmless. `observers` are the active ones.
    `uncalled` is why the tool was not called. `limit` is why no hint can be supported here.
    """

    tool: Tool
    made: Sequence[MadeCall]
    observers: frozenset[str]
    profile: Profile = Profile.DEFAULT
    confirmed: Mapping[HintName, Confirmed] = field(default_factory=dict[HintName, Confirmed])
    doubts: Mapping[HintName, str] = field(default_factory=dict[HintName, str])
    cleared: Mapping[HintName, str] = field(default_factory=dict[HintName, str])
    uncalled: str = ""
    limit: str = ""

    @property
    def successes(self) -> list[MadeCall]:
        return [call for call in self.made if call.is_success]

    @property
    def failure(self) -> str:
        """Return in one line why no call succeeded, as far as it is known."""
        if self.uncalled or not self.made:
            return self.uncalled
        first = self.made[0]
        text = cut(" ".join(first.text.split()), _LONGEST)
        if first.outcome in _ENDED:
            return f"{_ENDED[first.outcome]} ({text})" if text else _ENDED[first.outcome]
        return text

    @property
    def is_blind(self) -> bool:
        """Return whether a call did something that the observers cannot see."""
        return any(effect.kind is Kind.BLIND for made in self.made for effect in made.effects)

    def repeats(self) -> Iterator[tuple[MadeCall, MadeCall]]:
        """Yield each pair of consecutive calls with the same arguments."""
        for first, second in zip(self.made, self.made[1:], strict=False):
            if first.case.arguments == second.case.arguments:
                yield first, second
