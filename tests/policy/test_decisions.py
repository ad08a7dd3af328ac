"""Every combination of trust, hints, tool and mode, against values written by hand."""

import csv
from itertools import product
from pathlib import Path

import pytest
from tests.policy.samples import AMY, HINTS

from sayso.intent import DEFAULTS, HINT_NAMES, LOOSER, Evidence, Guess, HintName, Hints, Trust
from sayso.policy import Mode, Policy, Situation, ToolFacts, decide

DIMENSIONS = {
    "trust": tuple(map(str, Trust)),
    "hints": ("declared", "guessed", "absent", "doubted"),
    "tool": ("read", "write", "post", "delete"),
    "mode": tuple(map(str, Mode)),
}
Row = dict[str, str]


def rows() -> list[Row]:
    path = Path(__file__).with_name("decisions.csv")
    lines = [one for one in path.read_text().splitlines() if one and not one.startswith("#")]
    found: list[Row] = []
    for line in csv.DictReader(lines):
        values = [_values(line[name], known) for name, known in DIMENSIONS.items()]
        found += [{**line, **dict(zip(DIMENSIONS, one, strict=True))} for one in product(*values)]
    return found


def _values(cell: str, known: tuple[str, ...]) -> tuple[str, ...]:
    values = known if cell == "*" else tuple(cell.split("|"))
    assert set(values) <= set(known), cell
    return values


ROWS = rows()


def _key(row: Row) -> tuple[str, ...]:
    return tuple(row[name] for name in DIMENSIONS)


def evidence(hints: str, kind: str) -> Evidence:
    """What is known of a tool of this kind."""
    real = HINTS[kind]
    if hints == "absent":
        return Evidence()
    if hints == "guessed":
        return Evidence(inferred={name: Guess(bool(real[name]), 0.99) for name in HINT_NAMES})
    looser: list[HintName] = [name for name in HINT_NAMES if real[name] is LOOSER[name]]
    doubts: dict[HintName, Guess] = {
        name: Guess(DEFAULTS[name], 0.95) for name in looser if hints == "doubted"
    }
    return Evidence(declared=Hints(**{name: real[name] for name in HINT_NAMES}), inferred=doubts)


def test_every_combination_stands_in_the_table_exactly_once() -> None:
    keys = [_key(row) for row in ROWS]
    assert len(keys) == len(set(keys)) == 240
    assert set(keys) == set(product(*DIMENSIONS.values()))


@pytest.mark.parametrize("row", ROWS, ids=["-".join(_key(row)) for row in ROWS])
def test_a_call_is_decided_as_the_table_says(row: Row) -> None:
    policy = Policy(mode=Mode(row["mode"]), trust={"*": Trust(row["trust"])})
    intent = policy.resolve("crm", "tool", evidence(row["hints"], row["tool"]))
    decision = decide(policy, Situation(AMY, ToolFacts("crm", "tool", intent)))

    assert str(intent.level) == row["level"]
    assert str(decision.effect) == row["effect"]
    assert str(decision.would_be or "") == row["would_be"]
    assert decision.rule == f"mode:{row['mode']}"
