"""The events of a run, which reporters consume."""

from dataclasses import dataclass

from sayso.sandbox import Layer
from sayso.verify.call import MadeCall
from sayso.verify.verdict import Report, ToolReport


@dataclass(frozen=True, slots=True)
class Phase:
    """A phase begins: `prepare`, `start`, `explore`, `confirm` or `end`."""

    name: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Started:
    """The server has started and listed its tools."""

    layers: tuple[Layer, ...]
    tools: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Called:
    """A call was made. The run has made `done` of about `planned` calls."""

    made: MadeCall
    done: int
    planned: int


@dataclass(frozen=True, slots=True)
class Judged:
    """The verdicts on one tool are final."""

    tool: ToolReport
    done: int
    planned: int


@dataclass(frozen=True, slots=True)
class Ended:
    """The run is over."""

    report: Report


Event = Phase | Started | Called | Judged | Ended
