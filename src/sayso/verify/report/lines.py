"""A report as lines for a terminal: one for each tool, the evidence, the summary.

What comes from the server is one line of plain text before anything else is done with it.
"""

from collections.abc import Iterable, Iterator
from typing import Final

from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.text import Text

from sayso.schema import cut, plain
from sayso.verify.report.evidence import again, behind, in_line, notes_on, whence
from sayso.verify.report.summary import Refutation, Summary, hints_of, summarise, why_no_success
from sayso.verify.report.words import HINTS, STATES, State, count_of, standing, state_of
from sayso.verify.verdict import HintVerdict, Report, ToolReport

_WORDY: Final = 150
"""From this width on, the name of each state stands beside its sign."""
_WIDEST_STATE: Final = max(len(state.name) for state in STATES.values())
_LONGEST: Final = 400
_MOST_EFFECTS: Final = 20
_MOST_CLASSES: Final = 5
_MOST_TOOLS: Final = 20


def tool_line(tool: ToolReport, width: int) -> Text:
    """A tool in one line: its name, the share of calls that succeeded, a mark for each hint."""
    found = dict(hints_of(tool))
    marks = Text()
    for name, label in HINTS.items():
        words = f" {label}"
        if name in found:
            state = state_of(found[name])
            sign = STATES[state].sign
            style = STATES[state].style
            said = f" {STATES[state].name}" if width >= _WORDY else ""
        else:
            sign = " "
            style = "dim"
            said = ""
        wide = _WIDEST_STATE + 1 if width >= _WORDY else 0
        marks.append(f"  {sign}{words}{said.ljust(wide)}", style=style)
    calls = f" {tool.reach.successes}/{tool.reach.calls}".rjust(8)
    line = Text(fitted(plain(tool.name), width - marks.cell_len - len(calls)))
    line.append(calls, style="" if tool.reach.successes else "bold yellow")
    line.append_text(marks)
    line.rstrip()
    return line


def fitted(text: str, width: int) -> str:
    """Text in exactly so many cells of a terminal; an ellipsis says that some is missing."""
    if cell_len(text) <= width:
        return set_cell_size(text, width)
    return set_cell_size(text, max(width - 1, 0)) + "…"


def folded(line: Text, console: Console) -> Iterator[Text]:
    """A line as a terminal's width has room for it; what goes on stands further in."""
    text = line.plain
    margin = len(text) - len(text.lstrip(" "))
    parts = line[margin:].wrap(console, max(console.width - margin - 2, 1), overflow="fold")
    for at, part in enumerate(parts):
        part.rstrip()
        yield Text(" " * (margin + 2 if at else margin)).append_text(part)


def evidence_lines(report: Report) -> Iterator[Text]:
    """What stands behind each refuted hint, and how to see it again."""
    for refutation in summarise(report).refutations:
        yield Text()
        yield _accusation(refutation)
        yield from _indented(_behind(refutation.tool, refutation.found))


def summary_lines(report: Report, *, is_evidence: bool = False) -> Iterator[Text]:
    """The figures of a run, what was refuted, and what it could not show."""
    summary = summarise(report)
    yield Text()
    if not is_evidence:
        yield from map(_accusation, summary.refutations)
        if summary.refutations:
            yield Text("--evidence shows the calls behind it.", style="dim")
            yield Text()
    yield _counts(summary)
    yield from _plainly(_reached(summary))
    yield from _unreached(summary)
    yield from _plainly(_around(report, summary))


def _accusation(refutation: Refutation) -> Text:
    words = STATES[State.REFUTED]
    line = Text(f"{words.sign} ", style=words.style)
    line.append(plain(cut(refutation.tool.name, _LONGEST)), style="bold default")
    reason = cut(refutation.found.reason, _LONGEST)
    told = f": {HINTS[refutation.hint]}, {standing(refutation.found)}: {reason}"
    line.append(plain(told), style="not bold default")
    return line


def _behind(tool: ToolReport, found: HintVerdict) -> Iterator[str]:
    call = again(tool, found)
    if call is not None:
        smallest = "smallest arguments" if found.arguments is not None else "arguments"
        yield f"{smallest}: {cut(in_line(call['arguments']), _LONGEST)}"
    for effect in found.evidence[:_MOST_EFFECTS]:
        told = "; ".join(notes_on(effect))
        yield cut(
            f"{effect.kind} {effect.target} ({whence(effect)}){told and ': '}{told}", _LONGEST
        )
    if len(found.evidence) > _MOST_EFFECTS:
        yield f"and {len(found.evidence) - _MOST_EFFECTS:,} more; --json has them all"
    if call is not None:
        yield f"to see it again: tools/call {cut(in_line(call), _LONGEST)}"
    yield f"behind it: {cut(behind(found), _LONGEST)}"


def _counts(summary: Summary) -> Text:
    told = [
        Text(f"{words.sign} {summary.states[state]:,} {words.name}", style=words.style)
        for state, words in STATES.items()
        if summary.states.get(state)
    ]
    return Text("  ").join(told) if told else Text("No hint was judged.")


def _reached(summary: Summary) -> Iterator[str]:
    succeeded = summary.tools - len(summary.without_success)
    yield (
        f"{succeeded:,} of {count_of(summary.tools, 'tool')} ({summary.share}) had a call that "
        f"succeeded; {summary.successes:,} of {count_of(summary.calls, 'call')} did"
    )
    if classes := summary.reached + summary.missed:
        yield f"{summary.reached:,} of {classes:,} classes of input were reached"


def _unreached(summary: Summary) -> Iterator[Text]:
    if not (summary.without_success or summary.with_missed):
        return
    yield Text("Not reached:", style="bold")
    told = [f"{tool.name}: {why_no_success(tool)}" for tool in summary.without_success]
    told += [f"{tool.name}: {_missed(tool)}" for tool in summary.with_missed]
    yield from _indented(cut(line, _LONGEST) for line in told[:_MOST_TOOLS])
    if len(told) > _MOST_TOOLS:
        yield from _indented([f"and {len(told) - _MOST_TOOLS:,} more tools; --json has them all"])


def _missed(tool: ToolReport) -> str:
    missed = sorted(tool.reach.missed.items())
    told = [f"{cut(name, 80)} ({cut(why, 120)})" for name, why in missed[:_MOST_CLASSES]]
    if len(missed) > _MOST_CLASSES:
        told.append(f"and {len(missed) - _MOST_CLASSES:,} more")
    return ", ".join(told)


def _around(report: Report, summary: Summary) -> Iterator[str]:
    if summary.missing_layers:
        told = [f"{layer.name} ({layer.detail or 'not here'})" for layer in summary.missing_layers]
        yield f"Not active: {', '.join(told)}"
    if summary.is_uncontained:
        yield "The server ran without whole containment."
    if ignored := sum(len(tool.ignored) for tool in report.tools):
        yield f"{count_of(ignored, 'effect')} ignored, since they refute nothing; --json lists them"
    yield from report.notes
    yield f"Profile {report.profile}, seed {report.seed}, {report.seconds:.1f} s"


def _plainly(lines: Iterable[str]) -> Iterator[Text]:
    return (Text(plain(line)) for line in lines)


def _indented(lines: Iterable[str]) -> Iterator[Text]:
    return (Text(f"  {plain(line)}") for line in lines)
