"""One call of a tool by the verifier: arguments, result and effects."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from sayso.trace import Effect


class Outcome(StrEnum):
    """The way in which a call ended."""

    SUCCESS = "success"
    TOOL_ERROR = "tool_error"
    """The result has `isError`, or its text reports a failure."""
    PROTOCOL_ERROR = "protocol_error"
    TIMEOUT = "timeout"
    DIED = "died"
    """The server's process ended."""


@dataclass(frozen=True, slots=True)
class Case:
    """Arguments for one call. `classes` are the input classes that the arguments cover.

    A class is written like `path=file`, `limit=minimum` or `url=absent`. `origin` is the values'
    source: `default`, `example`, `enum`, `boundary`, `role`, `harvest`, `source`, `generated` or
    `given`.
    """

    arguments: Mapping[str, Any]
    classes: frozenset[str] = frozenset()
    origin: str = "generated"


@dataclass(frozen=True, slots=True)
class MadeCall:
    """A call that the verifier made. `number` counts the calls of a run from 1.

    `result` is as received. `text` is the text in the result, or the error. `seconds` is the
    response time.
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
    """The effects before grading. They are graded again after all tools were called."""
    control: tuple[Effect, ...] = ()
    """The effects that were observed in the same sandbox without a call."""

    @property
    def is_success(self) -> bool:
        return self.outcome is Outcome.SUCCESS
