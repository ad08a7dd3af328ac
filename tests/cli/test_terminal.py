"""What a stranger wrote is shown as what it is, and steers nothing."""

import json
import sys

import pytest

from sayso.cli import terminal
from sayso.errors import UsageError


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("get_customer", "get_customer"),
        ("Größe “1” … 数 🙂", "Größe “1” … 数 🙂"),
        ("a\x1b[31mb", "a\\u001b[31mb"),
        ("a\x9b31m", "a\\u009b31m"),
        ("a\u202eb\u2066c\u200b", "a\\u202eb\\u2066c\\u200b"),
        ("a\nb\rc\td\x00\x7f", "a\\u000ab\\u000dc\\u0009d\\u0000\\u007f"),
        ("a\u2028b\u2029c\x85", "a\\u2028b\\u2029c\\u0085"),
        ("\ud800", "\\ud800"),
    ],
)
def test_what_steers_a_terminal_is_spelt_out(text: str, shown: str) -> None:
    assert terminal.plain(text) == shown


@pytest.mark.parametrize("text", ["a\x9b31m", "\u202e", "\u2028", "\ud800", "\U000e0041", "é🙂"])
def test_json_spells_it_out_too_and_means_the_same(
    text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    terminal.print_json({text: [text]})

    out = capsys.readouterr().out
    assert json.loads(out) == {text: [text]}
    assert (text in out) is (text == "é🙂")


def test_an_error_is_one_line_of_json_whatever_stands_in_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    terminal.print_error_json(UsageError("a\nb\u2028c\x85d\x1b", where="x:1", fix="Mend it."))

    err = capsys.readouterr().err
    assert len(err.splitlines()) == 1
    assert json.loads(err)["error"]["what"] == "a\nb\u2028c\x85d\x1b"


def test_an_error_in_words_keeps_its_own_lines_and_no_others(
    capsys: pytest.CaptureFixture[str],
) -> None:
    terminal.print_error(UsageError("said:\nline\x1b[2J\rhidden", where="git", fix="Mend it."))

    page = "docs/guides/troubleshooting.md#usage"
    words = "sayso: git: said:\nline\\u001b[2J\\u000dhidden\nMend it.\n"
    assert capsys.readouterr().err == f"{words}{page}\n"


def test_without_a_terminal_nothing_is_shown_while_sayso_works(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with terminal.working("Asking …"):
        pass

    assert not sys.stderr.isatty()
    assert capsys.readouterr() == ("", "")
