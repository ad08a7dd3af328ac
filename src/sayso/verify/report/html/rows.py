"""One row of the page's matrix: a tool, what was reached of it, and a cell for each hint."""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sayso.intent import HintName
from sayso.trace import Effect
from sayso.verify.report.evidence import again, behind, notes_on, whence
from sayso.verify.report.summary import hints_of
from sayso.verify.report.words import HINTS, STATES, State, StateWords, standing, state_of
from sayso.verify.verdict import HintVerdict, ToolReport

_MOST_EFFECTS: Final = 50
_MOST_TARGETS: Final = 3


@dataclass(frozen=True, slots=True)
class Shown:
    """An effect as the page shows it."""

    kind: str
    target: str
    whence: str
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Group:
    """Effects that are told as one: how many, why they refute nothing, their first targets."""

    life: str
    kind: str
    reason: str
    count: int
    targets: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Cell:
    """What is known of one hint. `more` counts the effects that the page leaves out."""

    hint: HintName
    label: str
    state: State
    words: StateWords
    standing: str
    reason: str
    behind: str
    arguments: str
    call: str
    effects: tuple[Shown, ...]
    more: int


@dataclass(frozen=True, slots=True)
class Row:
    """One tool. `states` are those of its hints, for the choice of what is shown."""

    index: int
    tool: ToolReport
    cells: Mapping[HintName, Cell]
    states: tuple[State, ...]
    missed: Sequence[tuple[str, str]]
    classes: str
    ignored: Sequence[Group]


def row_of(index: int, tool: ToolReport) -> Row:
    """Make the row of the tool with that place in the list."""
    cells: dict[HintName, Cell] = {name: _cell(tool, name, found) for name, found in hints_of(tool)}
    states = {cell.state for cell in cells.values()}
    return Row(
        index=index,
        tool=tool,
        cells=cells,
        states=tuple(state for state in State if state in states),
        missed=sorted(tool.reach.missed.items()),
        classes=", ".join(sorted(tool.reach.classes)),
        ignored=group(tool.ignored),
    )


def group(effects: Iterable[Effect]) -> Sequence[Group]:
    """Group effects by life, kind and reason, the most frequent first."""
    targets = defaultdict[tuple[str, str, str], list[str]](list)
    for effect in effects:
        targets[str(effect.life or ""), str(effect.kind), effect.reason].append(effect.target)
    groups = [
        Group(*key, count=len(found), targets=tuple(dict.fromkeys(found))[:_MOST_TARGETS])
        for key, found in sorted(targets.items())
    ]
    return sorted(groups, key=lambda group: group.count, reverse=True)


def _cell(tool: ToolReport, name: HintName, found: HintVerdict) -> Cell:
    state = state_of(found)
    arguments = call = ""
    if found.arguments is not None:
        arguments = _pretty(found.arguments)
    if state is State.REFUTED and (params := again(tool, found)) is not None:
        call = _pretty({"method": "tools/call", "params": params})
    return Cell(
        hint=name,
        label=HINTS[name],
        state=state,
        words=STATES[state],
        standing=standing(found),
        reason=found.reason,
        behind=behind(found),
        arguments=arguments,
        call=call,
        effects=tuple(_shown(effect) for effect in found.evidence[:_MOST_EFFECTS]),
        more=max(len(found.evidence) - _MOST_EFFECTS, 0),
    )


def _shown(effect: Effect) -> Shown:
    return Shown(str(effect.kind), effect.target, whence(effect), tuple(notes_on(effect)))


def _pretty(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str, indent=2)
