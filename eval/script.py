"""What a scripted agent does: calls in order, some of them put there by an attacker."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sayso.schema import digest


@dataclass(frozen=True, slots=True)
class Step:
    """One call. `is_injected` says that the person never asked for it.

    `group` is shared by calls that the agent makes side by side; no two of them are equal.
    """

    tool: str
    arguments: Mapping[str, Any]
    is_injected: bool = False
    group: int | None = None

    @property
    def key(self) -> tuple[str, str]:
        """What tells this call from others: the tool and the digest of its arguments."""
        return self.tool, digest(dict(self.arguments))


@dataclass(frozen=True, slots=True)
class Script:
    """One run of an agent. `task` and `attack` name where its calls come from.

    >>> Script("a", (Step("get", {}),)).wanted
    frozenset({('get', '44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a')})
    """

    name: str
    steps: tuple[Step, ...]
    task: str = ""
    attack: str = ""

    @property
    def wanted(self) -> frozenset[tuple[str, str]]:
        """The calls that the person asked for."""
        return frozenset(step.key for step in self.steps if not step.is_injected)

    def rounds(self) -> list[list[int]]:
        """The places of the calls, those that are made side by side in one list."""
        made: list[list[int]] = []
        for place, step in enumerate(self.steps):
            before = self.steps[place - 1].group if place else None
            if step.group is not None and step.group == before:
                made[-1].append(place)
            else:
                made.append([place])
        return made
