"""One call of a tool by the verifier: what it was given, what came back, what was seen."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from sayso.trace import Effect


class Outcome(StrEnum):
    """How a call ended."""

    SUCCESS = "success"
    TOOL_ERROR = "tool_error"
    """A result with `isError`, or text that says it failed in a result without."""
    PROTOCOL_ERROR = "protocol_error"
    TIMEOUT = "timeout"
    DIED = "died"
    """The server's process ended."""


@dataclass(frozen=True, slots=True)
class Case:
    """Arguments for one call. `classes` name the branches of the input that it reaches.

    Classes read `path=file`, `format=json`, `limit=minimum`, `tags=empty`, `url=absent`. `origin`
    says where the values came from: `default`, `example`, `enum`, `boundary`, `role`, `harvest`,
    `generated`, `given`.
    """

    arguments: Mapping[str, Any]
    classes: frozenset[str] = frozenset()
    origin: str = "generated"


@dataclass(frozen=True, slots=True)
class MadeCall:
    """A call that was made. `number` counts the calls of a run from 1; `result` is as received.

    `seconds` is how long the answer took; `text` what its blocks say, or the error.
    """

    number: int
    tool: str
    case: Case
    outcome: Outcome
    result: Mapping[str, Any] = field(default_factory=dict[str, Any])
    text: str = ""
    seconds: float = 0.0
    effects: tuple[Effect, ...] = ()
    raw: tuple[Effect, ...] = ()
    """The effects as observers gave them, to be graded again when more is known."""
    control: tuple[Effect, ...] = ()
    """What was seen in the same box without a call."""

    @property
    def is_success(self) -> bool:
        return self.outcome is Outcome.SUCCESS
