"""What a run tells as it goes on. Reporters consume it; the run knows none of them."""

from dataclasses import dataclass

from sayso.sandbox import Layer
from sayso.verify.call import MadeCall
from sayso.verify.verdict import Report, ToolReport


@dataclass(frozen=True, slots=True)
class Phase:
    """A part of the run begins: `prepare`, `start`, `explore`, `confirm`, `end`."""

    name: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Started:
    """The server runs and has told its tools."""

    layers: tuple[Layer, ...]
    tools: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Called:
    """A call was made; `done` of about `planned` calls of the whole run are behind it."""

    made: MadeCall
    done: int
    planned: int


@dataclass(frozen=True, slots=True)
class Judged:
    """All is known of one tool."""

    tool: ToolReport
    done: int
    planned: int


@dataclass(frozen=True, slots=True)
class Ended:
    """The run is over."""

    report: Report


Event = Phase | Started | Called | Judged | Ended
