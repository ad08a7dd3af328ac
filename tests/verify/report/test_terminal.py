"""A run at a terminal: lines that fit, colours that can be had without, nothing that steers."""

import io
import re
import sys
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest
from tests.terminals import run_on_terminal
from tests.verify.report.samples import events, honest, hostile, large, report

from sayso.styled import Screen
from sayso.styled import cell_width as cell_len
from sayso.verify.event import Called, Ended, Event, Judged, Phase
from sayso.verify.report.terminal import Terminal
from sayso.verify.verdict import Report

ROOT = Path(__file__).parents[3]
STEERING = re.compile(r"\x1b\[[0-9;]*m")


def console(*, is_terminal: bool, width: int = 80) -> Screen:
    return Screen(io.StringIO(), is_terminal=is_terminal, width=width)


def shown(one: Screen) -> str:
    assert isinstance(one.file, io.StringIO)
    return one.file.getvalue()


def run(
    told: Iterable[Event], *, is_terminal: bool = False, width: int = 80, is_evidence: bool = False
) -> tuple[str, str]:
    results = console(is_terminal=is_terminal, width=width)
    talk = console(is_terminal=is_terminal, width=width)
    with Terminal(results, talk, is_evidence=is_evidence) as terminal:
        for event in told:
            terminal.take(event)
    return shown(results), shown(talk)


def line_of(text: str, name: str) -> str:
    return next(line for line in text.splitlines() if line.startswith(name))


@pytest.mark.parametrize("whole", [report(), hostile()], ids=["sample", "hostile"])
@pytest.mark.parametrize("width", [80, 100, 200])
@pytest.mark.parametrize("is_evidence", [False, True])
def test_every_line_fits_the_terminal_and_steers_nothing_else(
    whole: Report, width: int, *, is_evidence: bool
) -> None:
    results, _ = run(events(whole), is_terminal=True, width=width, is_evidence=is_evidence)
    lines = STEERING.sub("", results).splitlines()
    assert max(cell_len(line) for line in lines) <= width
    assert [line for line in lines if not line.isprintable()] == []
    assert not any(line.startswith("::error::x") for line in lines)


def test_each_tool_is_one_line_with_a_mark_for_each_hint() -> None:
    results, _ = run(events(report()))
    first = "customer_get 14/16 ✗ read-only ✓ destructive ✓ idempotent ✓ open-world"
    assert " ".join(line_of(results, "customer_get").split()) == first
    assert "▽ destructive" in line_of(results, "customer_delete")
    assert "◐ open-world" in line_of(results, "repository_sta")
    assert "0/8  · read-only" in line_of(results, "mail_send")


def test_a_tool_is_one_line_of_a_terminal_that_it_just_fills() -> None:
    results, _ = run(events(report()), is_terminal=True)
    line = line_of(STEERING.sub("", results), "customer_get ")
    assert line.endswith("✓ open-world")
    assert cell_len(line) == 80


def test_a_wide_line_says_each_state_in_words() -> None:
    results, _ = run(events(report()), width=160)
    line = line_of(results, "customer_delete")
    assert "· read-only not exercised  ▽ destructive over-declared" in line


def test_the_summary_says_what_was_missing_and_why() -> None:
    results, _ = run(events(report()))
    assert (
        "✗ 7 refuted  ◐ 3 partial  ▽ 1 over-declared  ✓ 27 supported  · 7 not exercised" in results
    )
    assert "10 of 12 tools (83 %) had a successful call; 127 of 167 calls succeeded" in results
    assert "  mail_send: SMTP_HOST is not set" in results
    assert "format=pdf (the renderer is not installed)" in results
    assert "Inactive layers: overlay (needs root; the package is read-only), postgres" in results
    assert "✗ customer_get: read-only, declared true: a row of the customer" in results
    assert "8 effects refuted no hint" in results


def test_evidence_comes_on_demand_with_the_call_that_shows_it_again() -> None:
    plainly, _ = run(events(report()))
    results, _ = run(events(report()), is_evidence=True)
    again = 'to reproduce it: tools/call {"name": "customer_get", "arguments": {"id": 17}}'
    assert again in results
    assert again not in plainly
    assert "--evidence" in plainly
    assert "--evidence" not in results
    assert "update /world/shop.db#customers/17 (user, seen by sqlite, call 14)" in results
    assert "and 10 more; --json lists all" in results


def test_an_honest_server_is_accused_of_nothing() -> None:
    results, _ = run(events(honest()), is_evidence=True)
    assert "✗" not in results
    assert "✓ 8 supported" in results


def test_a_server_without_tools_and_a_run_without_containment_are_said() -> None:
    bare = replace(
        replace(report(), tools=()), layers=(replace(report().layers[0], is_active=False),)
    )
    results, _ = run([Ended(bare)])
    assert "No hint was judged." in results
    assert "The server was not fully contained." in results


def test_what_goes_on_is_one_line_for_each_phase_where_nobody_sits_at_a_terminal() -> None:
    _, talk = run(events(report()))
    assert talk.splitlines() == [
        "prepare: npx shop",
        "12 tools, 10 of 12 layers active",
        "explore",
        "end",
    ]
    _, steered = run([Phase("start", "a\x1b[2J\nb")])
    assert steered == "start: a\\u001b[2J\\u000ab\n"


def test_a_bar_with_the_time_left_is_shown_at_a_terminal_and_leaves_it_clean() -> None:
    results = console(is_terminal=True)
    talk = console(is_terminal=True)
    made = report().tools[0].made[0]
    with Terminal(results, talk) as terminal:
        for event in events(report()):
            if isinstance(event, Ended):
                terminal.take(Called(made, 60, 48))
            terminal.take(event)
    told = shown(talk)
    assert "/48" in told
    assert "60/60" in told  # more than was planned is not more than all
    assert "━" in told
    assert told.endswith("\r\x1b[2K")
    assert "━" not in shown(results)


def test_an_interrupted_run_takes_its_bar_away() -> None:
    talk = console(is_terminal=True)
    terminal = Terminal(console(is_terminal=True), talk)
    terminal.take(Phase("explore", ""))
    with pytest.raises(KeyboardInterrupt), terminal:
        raise KeyboardInterrupt
    assert shown(talk) == "\r\x1b[2Kexplore\r\x1b[2K"


def test_no_color_is_heeded(monkeypatch: pytest.MonkeyPatch) -> None:
    coloured, _ = run(events(report()), is_terminal=True)
    monkeypatch.setenv("NO_COLOR", "1")
    results, _ = run(events(report()), is_terminal=True)
    assert "\x1b[1;31m" in coloured
    assert not re.search(r"\x1b\[[0-9;]*3[0-9]", results)
    assert STEERING.sub("", results) == STEERING.sub("", coloured)


def test_each_tool_is_told_once_whether_it_was_judged_on_the_way_or_not() -> None:
    whole = report()
    for told in (events(whole), [Ended(whole)], [Judged(whole.tools[0], 1, 48), Ended(whole)]):
        results, _ = run(told)
        assert (
            len([line for line in results.splitlines() if re.match(r"customer_get +14/", line)])
            == 1
        )


def test_every_hint_that_was_not_exercised_tells_why() -> None:
    results, _ = run([Ended(report())], width=400)
    _, _, summary = results.partition("Not exercised:")
    why = "it is declared the strict way, so there is nothing to refute"
    assert f"read-only of note_write, customer_delete: {why}" in summary
    assert "mail_send: SMTP_HOST is not set" in results


def test_a_thousand_tools_do_not_make_a_summary_that_nobody_reads() -> None:
    results, _ = run([Ended(large())])
    _, _, summary = results.partition("Not covered:")
    assert len(summary.splitlines()) < 30
    assert "more tools; --json lists all" in summary


PROGRAM = """
from sayso.cli.terminal import out, talk
from sayso.verify.report.terminal import Terminal
from tests.verify.report.samples import events, report
with Terminal(out(), talk()) as terminal:
    for event in events(report()):
        terminal.take(event)
"""


@pytest.mark.process
def test_bar_and_lines_share_one_real_terminal() -> None:
    ended, told = run_on_terminal([sys.executable, "-c", PROGRAM], {}, cwd=ROOT)
    assert ended == 0, told
    left = [STEERING.sub("", line) for line in re.split(r"\r|\n|\x1b\[\d*[AK]", told)]
    assert len([line for line in left if re.match(r"customer_get +14/16", line)]) == 1
    assert "/48" in told
    assert told.index("✗ 7 refuted") > told.rindex("━")
