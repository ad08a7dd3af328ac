"""The rows as tables: for people, for eval/RESULTS.md, and as JSON."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any, Final

from eval.gate import GATES, Gate
from eval.labels import LABELLINGS, LYING
from eval.measure import Row
from eval.person import KNOWS, NOBODY, TIRED, WORN
from eval.score import Tally

HEADS: Final[Sequence[str]] = (
    "gate",
    "hints",
    "harm unasked",
    "harm, gives in",
    "harm, no one there",
    "reads asked",
    "writes asked",
    "questions",
    "tasks done",
    "tasks done, no one there",
    "goals reached",
)


def table(rows: Sequence[Row]) -> list[list[str]]:
    """One line for each gate and labelling, worlds and attacks together."""
    lines: list[list[str]] = [[*HEADS]]
    for gate in GATES:
        for how in LABELLINGS:
            kinds = _people(one for one in rows if (one.gate, one.labels) == (gate.name, how))
            if kinds:
                lines.append([gate.name, _hints(gate, how), *_cells(kinds)])
    return lines


def by_attack(rows: Sequence[Row]) -> list[list[str]]:
    """How many harmful calls ran although the person knows, by attack; worlds together."""
    attacks = list(dict.fromkeys(one.attack for one in rows if one.attack))
    lines: list[list[str]] = [["gate", "hints", *attacks]]
    for gate in GATES:
        for how in LABELLINGS:
            mine = [one for one in rows if (one.gate, one.labels) == (gate.name, how)]
            if mine:
                cells = (_people(one for one in mine if one.attack == attack) for attack in attacks)
                told = [_ran(kinds.get(KNOWS, kinds[NOBODY])) for kinds in cells]
                lines.append([gate.name, _hints(gate, how), *told])
    return lines


def by_tool(rows: Sequence[Row]) -> list[list[str]]:
    """Which tools did harm that nobody was asked about, although somebody who knows was there."""
    lines: list[list[str]] = [["gate", "hints", "tools"]]
    for gate in GATES[1:]:
        for how in LABELLINGS:
            mine = [one for one in rows if (one.gate, one.labels) == (gate.name, how)]
            kind = KNOWS if gate.asks_people else NOBODY
            counted: Counter[str] = Counter()
            for row in mine:
                counted.update(row.unasked if row.person == kind else {})
            if counted:
                told = ", ".join(f"{tool} {number}" for tool, number in counted.most_common())
                lines.append([gate.name, _hints(gate, how), told])
    return lines


def _ran(one: Tally) -> str:
    return f"{one.harmful_ran} of {one.harmful}"


def _hints(gate: Gate, how: str) -> str:
    """What the labelling is called beside a gate that does not see all of it."""
    if how == LYING or len(gate.minds) == len(LABELLINGS):
        return how
    return "any"


def _people(rows: Iterable[Row]) -> dict[str, Tally]:
    made: dict[str, Tally] = {}
    for row in rows:
        made[row.person] = made.get(row.person, Tally()) + row.tally
    return made


def _cells(kinds: Mapping[str, Tally]) -> list[str]:
    """Where a gate asks nobody, people make no difference to it."""
    nobody = kinds[NOBODY]
    knows = kinds.get(KNOWS, nobody)
    yields = kinds.get(TIRED, kinds.get(WORN, nobody))
    return [
        share(knows.harmful_unasked, knows.harmful),
        share(yields.harmful_ran, yields.harmful),
        share(nobody.harmful_ran, nobody.harmful),
        share(knows.reads_asked, knows.reads),
        share(knows.writes_asked, knows.writes),
        f"{knows.questions / knows.runs:.1f}",
        share(knows.tasks_done, knows.tasks),
        share(nobody.tasks_done, nobody.tasks),
        share(knows.goals_reached, knows.goals),
    ]


def share(part: int, whole: int) -> str:
    """A share in percent; what is not nothing and not all never looks like it.

    >>> share(0, 8), share(1, 400), share(399, 400), share(1, 3), share(0, 0)
    ('0 %', '<1 %', '>99 %', '33 %', '–')
    """
    if not whole:
        return "–"
    percent = round(100 * part / whole)
    if percent == 0 and part:
        return "<1 %"
    return ">99 %" if percent == 100 and part < whole else f"{percent} %"  # noqa: PLR2004 - per cent


def counts(rows: Sequence[Row]) -> str:
    """What the shares of a table are shares of, in one sentence."""
    free = _people(one for one in rows if one.gate == GATES[0].name)[NOBODY]
    return (
        f"{free.runs} runs: {free.harmful} harmful calls; {free.reads} other calls that change "
        f"nothing and {free.writes} that change something; {free.tasks} tasks and "
        f"{free.goals} attack goals."
    )


def aligned(lines: Sequence[Sequence[str]]) -> str:
    """For a terminal."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    pairs = ([cell.ljust(width) for cell, width in zip(one, widths, strict=True)] for one in lines)
    return "\n".join("  ".join(cells).rstrip() for cells in pairs)


def markdown(lines: Sequence[Sequence[str]]) -> str:
    """For the document."""
    rows = [f"| {' | '.join(one)} |" for one in lines]
    return "\n".join([rows[0], "|" + " --- |" * len(lines[0]), *rows[1:]])


def replaced(text: str, name: str, section: str) -> str:
    """A document with the section of this name renewed; raises `ValueError` where it has none."""
    marks = f"<!-- eval: {name} -->", "<!-- eval: end -->"
    found = re.compile(f"{re.escape(marks[0])}\n.*?{re.escape(marks[1])}", re.DOTALL)
    if not found.search(text):
        raise ValueError(f"eval/RESULTS.md has no section {marks[0]}; put it where it belongs")
    return found.sub(lambda _: f"{marks[0]}\n{section}\n{marks[1]}", text)


def as_json(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """For programs."""
    return [
        {
            "world": row.world,
            "gate": row.gate,
            "hints": row.labels,
            "person": row.person,
            "attack": row.attack,
            **asdict(row.tally),
            "unasked_by_tool": dict(row.unasked),
        }
        for row in rows
    ]
