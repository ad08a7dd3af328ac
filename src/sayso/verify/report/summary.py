"""The figures of a run: the number of hints in each state, coverage, missing layers."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from sayso.intent import HINT_NAMES, HintName
from sayso.sandbox import CONTAINING, Layer
from sayso.verify.report.words import State, state_of
from sayso.verify.verdict import HintVerdict, Report, ToolReport


@dataclass(frozen=True, slots=True)
class Refutation:
    """A refuted hint of a tool. `index` is the tool's place in the report."""

    index: int
    tool: ToolReport
    hint: HintName
    verdict: HintVerdict


@dataclass(frozen=True, slots=True)
class Summary:
    """The figures of a run.

    `reached` and `missed` are numbers of input classes. `without_success` are all tools without a
    successful call, including those that were not called.
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
        """Return the share of tools with a successful call, rounded down."""
        if not self.tools:
            return "none"
        return f"{100 * (self.tools - len(self.without_success)) // self.tools} %"

    @property
    def is_uncontained(self) -> bool:
        """Return whether a layer of containment was missing."""
        return any(layer.name in CONTAINING for layer in self.missing_layers)


def hints_of(tool: ToolReport) -> list[tuple[HintName, HintVerdict]]:
    """Return the verdicts on a tool's hints in their fixed order."""
    return [(name, tool.hints[name]) for name in HINT_NAMES if name in tool.hints]


def summarise(report: Report) -> Summary:
    """Compute the figures of a report."""
    tools = report.tools
    return Summary(
        states=Counter(state_of(verdict) for tool in tools for _, verdict in hints_of(tool)),
        tools=len(tools),
        calls=sum(tool.reach.calls for tool in tools),
        successes=sum(tool.reach.successes for tool in tools),
        reached=sum(len(tool.reach.classes) for tool in tools),
        missed=sum(len(tool.reach.missed) for tool in tools),
        refutations=tuple(
            Refutation(index, tool, name, verdict)
            for index, tool in enumerate(tools)
            for name, verdict in hints_of(tool)
            if state_of(verdict) is State.REFUTED
        ),
        without_success=tuple(tool for tool in tools if not tool.reach.successes),
        with_missed=tuple(tool for tool in tools if tool.reach.successes and tool.reach.missed),
        missing_layers=tuple(layer for layer in report.layers if not layer.is_active),
    )


def why_no_success(tool: ToolReport) -> str:
    """Return the reason why no call of a tool succeeded."""
    if tool.error:
        return tool.error
    return "every call failed" if tool.reach.calls else "the tool was not called"
