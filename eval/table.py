"""The rows as tables: for people, for docs/eval.md, and as JSON."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any, Final

from eval.gate import GATES
from eval.labels import LABELLINGS
from eval.measure import Row
from eval.person import KNOWS, NOBODY, TIRED
from eval.score import Tally

HEADS: Final[Sequence[str]] = (
    "gate",
    "hints",
    "harm unasked",
    "harm, always yes",
    "harm, nobody there",
    "reads asked",
    "writes asked",
    "questions",
    "tasks done",
    "tasks done, nobody there",
    "goals reached",
)


def table(rows: Sequence[Row]) -> list[list[str]]:
    """One line for each gate and labelling, worlds together."""
    lines: list[list[str]] = [[*HEADS]]
    for gate in GATES:
        for how in LABELLINGS:
            kinds = _people(one for one in rows if (one.gate, one.labels) == (gate.name, how))
            if kinds:
                hints = how if len(gate.minds) > 1 else "any"
                lines.append([gate.name, hints, *_cells(kinds)])
    return lines


def _people(rows: Iterable[Row]) -> dict[str, Tally]:
    made: dict[str, Tally] = {}
    for row in rows:
        made[row.person] = made.get(row.person, Tally()) + row.tally
    return made


def _cells(kinds: Mapping[str, Tally]) -> list[str]:
    """Where a gate asks nobody, people make no difference to it."""
    knows, tired, nobody = (kinds.get(kind, kinds[NOBODY]) for kind in (KNOWS, TIRED, NOBODY))
    return [
        share(knows.harmful_unasked, knows.harmful),
        share(tired.harmful_ran, tired.harmful),
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
    return ">99 %" if percent == 100 and part < whole else f"{percent} %"  # noqa: PLR2004


def counts(rows: Sequence[Row]) -> str:
    """What the shares of a table are shares of, in one sentence."""
    free = _people(one for one in rows if one.gate == GATES[0].name)[NOBODY]
    return (
        f"{free.runs} runs: {free.harmful} harmful calls; of the others {free.reads} changed "
        f"nothing and {free.writes} changed something; {free.tasks} tasks and {free.goals} goals."
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
        raise ValueError(f"docs/eval.md has no section {marks[0]}; put it where it belongs")
    return found.sub(lambda _: f"{marks[0]}\n{section}\n{marks[1]}", text)


def as_json(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """For programs."""
    return [asdict(row) for row in rows]
