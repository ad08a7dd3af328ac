"""A run in figures: how many hints of each state, what was reached, what was missing."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from sayso.intent import HINT_NAMES, HintName
from sayso.sandbox import CONTAINING, Layer
from sayso.verify.report.words import State, state_of
from sayso.verify.verdict import HintVerdict, Report, ToolReport


@dataclass(frozen=True, slots=True)
class Refutation:
    """One hint of one tool that was shown to be false."""

    tool: ToolReport
    hint: HintName
    found: HintVerdict


@dataclass(frozen=True, slots=True)
class Summary:
    """What is told above or below the single tools.

    `reached` and `missed` count classes of input. `without_success` are tools that were called or
    not, of which no call succeeded.
    """

    states: Mapping[State, int]
    tools: int
    calls: int
    successes: int
    reached: int
    missed: int
    refutations: tuple[Refutation, ...]
    without_success: tuple[ToolReport, ...]
    with_missed: tuple[ToolReport, ...]
    missing_layers: tuple[Layer, ...]

    @property
    def share(self) -> str:
        """The share of tools with a call that succeeded.

        Rounded down, so that it says 100 % only of all.
        """
        succeeded = self.tools - len(self.without_success)
        if not self.tools:
            return "none"
        return f"{100 * succeeded // self.tools} %"

    @property
    def is_uncontained(self) -> bool:
        """Whether a layer was missing without which nothing is run unless it is asked for."""
        return any(layer.name in CONTAINING for layer in self.missing_layers)


def hints_of(tool: ToolReport) -> list[tuple[HintName, HintVerdict]]:
    """The verdicts on a tool's hints, in the order in which hints are always told."""
    return [(name, tool.hints[name]) for name in HINT_NAMES if name in tool.hints]


def summarise(report: Report) -> Summary:
    """The figures of a report."""
    tools = report.tools
    return Summary(
        states=Counter(state_of(found) for tool in tools for _, found in hints_of(tool)),
        tools=len(tools),
        calls=sum(tool.reach.calls for tool in tools),
        successes=sum(tool.reach.successes for tool in tools),
        reached=sum(len(tool.reach.classes) for tool in tools),
        missed=sum(len(tool.reach.missed) for tool in tools),
        refutations=_refutations(report),
        without_success=tuple(tool for tool in tools if not tool.reach.successes),
        with_missed=tuple(tool for tool in tools if tool.reach.successes and tool.reach.missed),
        missing_layers=tuple(layer for layer in report.layers if not layer.is_active),
    )


def why_no_success(tool: ToolReport) -> str:
    """Why no call of a tool succeeded, as far as it is known."""
    if tool.error:
        return tool.error
    if not tool.reach.calls:
        return "it was not called"
    return "every call failed"


def _refutations(report: Report) -> tuple[Refutation, ...]:
    return tuple(
        Refutation(tool, name, found)
        for tool in report.tools
        for name, found in hints_of(tool)
        if state_of(found) is State.REFUTED
    )
