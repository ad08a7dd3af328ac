"""One call of a tool by the verifier: arguments, result and effects."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from sayso.trace import Effect


class Outcome(StrEnum):
    """The end of a call."""

    SUCCESS = "success"
    TOOL_ERROR = "tool_error"
    """A result with `isError`, or a text that reports a failure."""
    PROTOCOL_ERROR = "protocol_error"
    TIMEOUT = "timeout"
    DIED = "died"
    """The server's process ended."""


@dataclass(frozen=True, slots=True)
class Case:
    """Arguments for one call. `classes` name the input classes that it covers.

    Classes read `path=file`, `format=json`, `limit=minimum`, `tags=empty`, `url=absent`. `origin`
    is the source of the values: `default`, `example`, `enum`, `boundary`, `role`, `harvest`,
    `generated`, `given`.
    """

    arguments: Mapping[str, Any]
    classes: frozenset[str] = frozenset()
    origin: str = "generated"


@dataclass(frozen=True, slots=True)
class MadeCall:
    """A call that was made; `number` counts the calls of a run from 1.

    `result` is as received, `text` its text blocks or the error. `seconds` is the response time.
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
    """Effects as observed, to be graded again when more is known."""
    control: tuple[Effect, ...] = ()
    """Effects observed in the same box without a call."""

    @property
    def is_success(self) -> bool:
        return self.outcome is Outcome.SUCCESS
