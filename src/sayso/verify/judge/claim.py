"""What is claimed of one hint, by declaration or, where nothing is declared, by inference."""

from collections.abc import Mapping
from dataclasses import dataclass

from sayso.catalog import Tool
from sayso.intent import HINT_NAMES, LOOSER, HintName


@dataclass(frozen=True, slots=True)
class Claim:
    """One hint of one tool. `inferred` is set only where nothing is declared."""

    name: HintName
    declared: bool | None
    inferred: bool | None = None

    @property
    def value(self) -> bool | None:
        """What is held against the calls; `None` where nobody says anything."""
        return self.inferred if self.declared is None else self.declared

    @property
    def is_looser(self) -> bool:
        """Whether it claims the value that permits more, which calls can show to be false."""
        return self.value is LOOSER[self.name]


def claims_of(tool: Tool) -> Mapping[HintName, Claim]:
    """The four claims of a tool, as its server declares them and its text suggests them."""
    declared = tool.intent.hints
    found: dict[HintName, Claim] = {}
    for name in HINT_NAMES:
        guess = tool.inferred.get(name) if declared[name] is None else None
        found[name] = Claim(name, declared[name], None if guess is None else guess.value)
    return found
