"""Styled text and tables, at any width."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sayso.styled import (
    Column,
    Screen,
    Table,
    Text,
    cell_width,
    set_cell_width,
    stderr,
    stdout,
)

TEXTS = st.text(st.sampled_from("ab 漢é\u0301\U0001f600"), max_size=40)


def drawn(table: Table, width: int) -> list[str]:
    return [line.plain.rstrip() for line in table.lines(width)]


@given(TEXTS, st.integers(2, 12))
def test_a_folded_text_fits_and_loses_nothing_but_blanks(text: str, width: int) -> None:
    lines = [line.plain for line in Text(text, "bold").fold(width)]

    assert all(cell_width(line) <= width for line in lines)
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")


@given(TEXTS, st.integers(0, 12))
def test_a_text_is_cut_or_padded_to_its_cells(text: str, width: int) -> None:
    assert cell_width(set_cell_width(text, width)) == width


def test_words_stay_whole_where_they_fit() -> None:
    text = Text("one two", "bold").append(" threefour\nfive")

    assert [line.plain for line in text.fold(7)] == ["one two", "threefo", "ur", "five"]
    assert text.fold(7)[0].render(has_colour=True) == "\x1b[1mone two\x1b[0m"


def test_a_table_folds_its_widest_columns() -> None:
    table = Table(["name", Column("size", is_fixed=True, is_right=True), "why"])
    table.add_row("a", "7", "because of all that")
    table.add_row(Text("b", "red"), Text("10"), "")

    assert drawn(table, 80) == [
        "name  size  why",
        "a        7  because of all that",
        "b       10",
    ]
    assert drawn(table, 22) == [
        "name  size  why",
        "a        7  because of",
        "            all that",
        "b       10",
    ]
    assert drawn(table, 1)[0].split() == ["name", "size", "why"]


def test_a_heading_of_two_lines_ends_where_the_others_do() -> None:
    table = Table(["tool", "read\nonly", Column("long", max_width=3)])
    table.add_row("a", "no", "abcdef")

    assert drawn(table, 80) == [
        "      read  lon",
        "tool  only  g",
        "a     no    abc",
        "            def",
    ]


def test_a_table_without_a_header_takes_its_columns_from_its_rows() -> None:
    table = Table(has_header=False)
    table.add_row("a", "b")

    assert drawn(table, 80) == ["a  b"]


@pytest.mark.parametrize(
    ("variables", "is_terminal", "expected"),
    [
        ({"TERM": "xterm"}, True, "\x1b[1;31mx\x1b[0m\n"),
        ({"TERM": "xterm"}, False, "x\n"),
        ({"TERM": "dumb"}, True, "x\n"),
        ({"TERM": "xterm", "NO_COLOR": "1"}, True, "x\n"),
    ],
)
def test_only_a_terminal_that_wants_them_gets_colours(
    monkeypatch: pytest.MonkeyPatch,
    variables: dict[str, str],
    *,
    is_terminal: bool,
    expected: str,
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    file = io.StringIO()

    Screen(file, is_terminal=is_terminal).print(Text("x", "bold red"))

    assert file.getvalue() == expected


def test_a_status_is_one_line_that_goes_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "9")
    file = io.StringIO()
    with Screen(file, is_terminal=True).status("begin") as status:
        status.update("a long text that is cut")
    quiet = io.StringIO()
    with Screen(quiet).status("begin") as status:
        status.update("more")

    assert file.getvalue() == "\r\x1b[2Kbegin\r\x1b[2Ka long t\r\x1b[2K"
    assert quiet.getvalue() == ""


def test_the_screens_are_those_of_the_process(capsys: pytest.CaptureFixture[str]) -> None:
    table = Table(["a"])
    table.add_row("b")
    stdout().print(table)
    stderr().print("c")

    assert capsys.readouterr() == ("a\nb\n", "c\n")
    assert stdout().width == 160
