"""Sixty made-up tools with a second clause or a denial, in two halves."""

import pytest
from tests.infer.second_clauses import SHOWN, UNSHOWN, Made

from sayso.infer import guess
from sayso.intent import THRESHOLD


def called_read(tools: tuple[Made, ...], threshold: float | None = None) -> set[str]:
    guesses = {made.name: guess(made.to_tool(), threshold=threshold) for made in tools}
    return {
        name for name, hints in guesses.items() if "read_only" in hints and hints["read_only"].value
    }


@pytest.mark.parametrize(
    ("tools", "min_reads", "slips"),
    [
        (SHOWN, 10, set[str]()),
        (
            UNSHOWN,
            8,
            {"list_mentions", "find_customer", "show_recovery_codes", "get_free_license"},
        ),
    ],
    ids=["shown", "unshown"],
)
def test_most_reads_are_found_and_few_writes_slip_through(
    tools: tuple[Made, ...], min_reads: int, slips: set[str]
) -> None:
    called = called_read(tools)
    reads = {made.name for made in tools if made.reads}

    assert len(called & reads) >= min_reads
    assert called - reads <= slips


@pytest.mark.parametrize(
    ("tools", "slips"), [(SHOWN, set[str]()), (UNSHOWN, {"show_recovery_codes"})]
)
def test_hardly_any_write_is_surely_a_read(tools: tuple[Made, ...], slips: set[str]) -> None:
    writes = {made.name for made in tools if not made.reads}

    assert called_read(tools, THRESHOLD) & writes <= slips
