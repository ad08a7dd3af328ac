"""A report as terminal lines: one per tool, then the evidence, then the summary.

Each text of a server is turned into one line of plain text.
"""

from collections.abc import Iterable, Iterator
from typing import Final

from sayso.schema import cut, plain
from sayso.styled import Screen, Text, cell_width, set_cell_width
from sayso.verify.judge import NO_SUCCESS
from sayso.verify.report.evidence import basis, in_line, notes_on, reproduction, whence
from sayso.verify.report.summary import Refutation, Summary, hints_of, summarise, why_no_success
from sayso.verify.report.words import HINTS, STATES, State, StateWords, count_of, standing, state_of
from sayso.verify.verdict import HintVerdict, Report, ToolReport

_WORDY: Final = 150
"""From this width on, each state is shown by its sign and name. Below it, only by its sign."""
_WIDEST_STATE: Final = max(len(state.name) for state in STATES.values())
_NO_STATE: Final = StateWords("", "", " ", "dim")
_LONGEST: Final = 400
_MOST_EFFECTS: Final = 20
_MOST_CLASSES: Final = 5
_MOST_TOOLS: Final = 15
_MOST_NAMES: Final = 8
"""The maximum number of tools that one line names."""


def tool_line(tool: ToolReport, width: int) -> Text:
    """Return one line for a tool: name, successful calls, and the state of each hint."""
    marks = Text()
    is_wordy = width >= _WORDY
    for name, label in HINTS.items():
        state = STATES[state_of(tool.hints[name])] if name in tool.hints else _NO_STATE
        text = f"  {state.sign} {label}"
        if is_wordy:
            text += f" {state.name}".ljust(_WIDEST_STATE + 1)
        marks.append(text, state.style)
    calls = f" {tool.reach.successes}/{tool.reach.calls}".rjust(8)
    line = Text(fitted(plain(tool.name), width - marks.width - len(calls)))
    line.append(calls, "" if tool.reach.successes else "bold yellow").append(marks)
    return line.cut(0, len(line.plain.rstrip()))


def fitted(text: str, width: int) -> str:
    """Pad or cut text to exactly `width` terminal cells. A cut text ends with an ellipsis."""
    if cell_width(text) <= width:
        return set_cell_width(text, width)
    return set_cell_width(text, max(width - 1, 0)) + "…"


def folded(line: Text, screen: Screen) -> Iterator[Text]:
    """Wrap a line to the terminal's width, with an indent."""
    if line.width <= screen.width:
        yield line
        return
    text = line.plain
    margin = len(text) - len(text.lstrip(" "))
    parts = line.cut(margin, len(text)).fold(max(screen.width - margin - 2, 1))
    for number, part in enumerate(parts):
        yield Text(" " * (margin + 2 if number else margin)).append(part)


def evidence_lines(report: Report) -> Iterator[Text]:
    """Yield the evidence of each refuted hint and how to reproduce it."""
    for refutation in summarise(report).refutations:
        yield Text()
        yield _refuted(refutation)
        yield from _indented_lines(_evidence(refutation.tool, refutation.verdict))


def summary_lines(report: Report, *, is_evidence: bool = False) -> Iterator[Text]:
    """Yield the figures of a run, the refuted hints, and the coverage gaps."""
    summary = summarise(report)
    yield Text()
    if not is_evidence:
        yield from map(_refuted, summary.refutations)
        if summary.refutations:
            yield Text("Run with --evidence to see the calls.", "dim")
            yield Text()
    yield _counts(summary)
    yield from _plain_lines(_coverage(summary))
    yield from _gaps(summary)
    yield from _unexercised(report)
    yield from _plain_lines(_run(report, summary))


def _refuted(refutation: Refutation) -> Text:
    words = STATES[State.REFUTED]
    line = Text(f"{words.sign} ", words.style)
    line.append(plain(cut(refutation.tool.name, _LONGEST)), "bold")
    verdict = refutation.verdict
    reason = cut(verdict.reason, _LONGEST)
    text = f": {HINTS[refutation.hint]}, {standing(verdict)}: {reason}"
    line.append(plain(text))
    return line


def _evidence(tool: ToolReport, verdict: HintVerdict) -> Iterator[str]:
    call = reproduction(tool, verdict)
    if call is not None:
        label = "smallest arguments" if verdict.arguments is not None else "arguments"
        yield f"{label}: {cut(in_line(call['arguments']), _LONGEST)}"
    for effect in verdict.evidence[:_MOST_EFFECTS]:
        text = f"{effect.kind} {effect.target} ({whence(effect)})"
        yield cut(": ".join(filter(None, (text, "; ".join(notes_on(effect))))), _LONGEST)
    if len(verdict.evidence) > _MOST_EFFECTS:
        yield f"and {len(verdict.evidence) - _MOST_EFFECTS:,} more; --json lists all"
    if call is not None:
        yield f"to reproduce it: tools/call {cut(in_line(call), _LONGEST)}"
    yield f"based on {cut(basis(verdict), _LONGEST)}"


def _counts(summary: Summary) -> Text:
    counts = [
        Text(f"{words.sign} {summary.states[state]:,} {words.name}", words.style)
        for state, words in STATES.items()
        if summary.states.get(state)
    ]
    if not counts:
        return Text("No hint was judged.")
    line, *others = counts
    for other in others:
        line.append("  ").append(other)
    return line


def _coverage(summary: Summary) -> Iterator[str]:
    succeeded = summary.tools - len(summary.without_success)
    yield (
        f"{succeeded:,} of {count_of(summary.tools, 'tool')} ({summary.share}) had a successful "
        f"call; {summary.successes:,} of {count_of(summary.calls, 'call')} succeeded"
    )
    if classes := summary.reached + summary.missed:
        yield f"{summary.reached:,} of {classes:,} input classes were covered"


def _gaps(summary: Summary) -> Iterator[Text]:
    failed: dict[str, list[str]] = {}
    for tool in summary.without_success:
        failed.setdefault(why_no_success(tool), []).append(tool.name)
    partly = [f"{tool.name}: {_missed(tool)}" for tool in summary.with_missed]
    if not failed and not partly:
        return
    yield Text("Not covered:", "bold")
    yield from _indented_lines(
        f"{_named(tools)}: {cut(reason, _LONGEST)}" for reason, tools in failed.items()
    )
    yield from _indented_lines(cut(line, _LONGEST) for line in partly[:_MOST_TOOLS])
    if len(partly) > _MOST_TOOLS:
        yield from _indented_lines(
            [f"and {len(partly) - _MOST_TOOLS:,} more tools; --json lists all"]
        )


def _unexercised(report: Report) -> Iterator[Text]:
    """Yield a line for each reason why hints of tools that were reached were not exercised."""
    cells: dict[tuple[str, str], list[str]] = {}
    for tool in report.tools:
        for reason, hints in _reasons(tool).items():
            cells.setdefault((", ".join(hints), reason), []).append(tool.name)
    if cells:
        yield Text("Not exercised:", "bold")
    yield from _indented_lines(
        f"{hints} of {_named(tools)}: {cut(reason, _LONGEST)}"
        for (hints, reason), tools in cells.items()
    )


def _reasons(tool: ToolReport) -> dict[str, list[str]]:
    """Return a tool's hints that were not exercised, by reason, without "no call succeeded"."""
    found: dict[str, list[str]] = {}
    for name, verdict in hints_of(tool):
        is_told = not tool.reach.successes and verdict.reason.startswith(NO_SUCCESS)
        if state_of(verdict) is State.NOT_EXERCISED and not is_told:
            found.setdefault(verdict.reason, []).append(HINTS[name])
    return found


def _named(tools: list[str]) -> str:
    names = [cut(name, 80) for name in tools[:_MOST_NAMES]]
    if len(tools) > _MOST_NAMES:
        names.append(f"{len(tools) - _MOST_NAMES:,} more (--json lists all)")
    return ", ".join(names)


def _missed(tool: ToolReport) -> str:
    missed = sorted(tool.reach.missed.items())
    parts = [f"{cut(name, 80)} ({cut(why, 120)})" for name, why in missed[:_MOST_CLASSES]]
    if len(missed) > _MOST_CLASSES:
        parts.append(f"and {len(missed) - _MOST_CLASSES:,} more")
    return ", ".join(parts)


def _run(report: Report, summary: Summary) -> Iterator[str]:
    if layers := summary.missing_layers:
        listed = ", ".join(f"{layer.name} ({layer.detail or 'not available'})" for layer in layers)
        yield f"Inactive layers: {listed}"
    if summary.is_uncontained:
        yield "The server was not fully contained."
    if ignored := sum(len(tool.ignored) for tool in report.tools):
        yield f"{count_of(ignored, 'effect')} refuted no hint; --json lists them"
    yield from report.notes
    yield f"Profile {report.profile}, seed {report.seed}, {report.seconds:.1f} s"


def _plain_lines(lines: Iterable[str]) -> Iterator[Text]:
    return (Text(plain(line)) for line in lines)


def _indented_lines(lines: Iterable[str]) -> Iterator[Text]:
    return (Text(f"  {plain(line)}") for line in lines)
