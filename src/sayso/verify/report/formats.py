"""A report as text, JSON, JUnit XML or HTML."""

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from sayso.intent import HINT_NAMES, HintName
from sayso.report import (
    escaped_xml,
    junit_case,
    junit_suite,
    quoted_xml,
    write_json_document,
    write_junit,
)
from sayso.schema import cut
from sayso.verify.report.evidence import basis, in_line, notes_on, reproduction, whence
from sayso.verify.report.html import as_html
from sayso.verify.report.lines import evidence_lines, summary_lines, tool_line
from sayso.verify.report.summary import hints_of
from sayso.verify.report.words import HINTS, STATES, standing, state_of
from sayso.verify.verdict import HintVerdict, Report, ToolReport

_MOST_EFFECTS: Final = 20
_LONGEST: Final = 2000
_TEXT_WIDTH: Final = 160


def as_text(report: Report) -> str:
    """Write the report as on a terminal, with the evidence."""
    lines = [tool_line(tool, _TEXT_WIDTH) for tool in report.tools]
    lines += evidence_lines(report)
    lines += summary_lines(report, is_evidence=True)
    return "".join(f"{line.plain.rstrip()}\n" for line in lines)


def as_json(report: Report) -> str:
    """Write the documented JSON. The same report gives the same bytes."""
    document = report.to_dict()
    for tool in document["tools"]:
        hints = tool["hints"]
        tool["hints"] = {name: hints[name] for name in HINT_NAMES if name in hints}
        tool["reach"]["missed"] = dict(sorted(tool["reach"]["missed"].items()))
    return write_json_document(document)


def as_junit(report: Report) -> str:
    """Write one test case per hint and tool: failed if refuted, skipped if not exercised."""
    cases = [
        junit_case(tool.name, HINTS[name], _outcome(tool, name, verdict))
        for tool in report.tools
        for name, verdict in hints_of(tool)
    ]
    counts = report.count()
    figures = (
        f'tests="{len(cases)}" failures="{counts["refuted"]}" errors="0" '
        f'skipped="{counts["not_exercised"]}" time="{report.seconds:.3f}"'
    )
    server = str(report.server.get("name") or report.target)
    suite = junit_suite(server, cases, figures=figures)
    return write_junit(f"sayso verify, profile {report.profile}", [suite], figures=figures)


FORMATS: Final[Mapping[str, Callable[[Report], str]]] = {
    "text": as_text,
    "json": as_json,
    "junit": as_junit,
    "html": as_html,
}
"""Writers of a report by the format's name. Each returned text ends with a line break."""


def _outcome(tool: ToolReport, name: HintName, verdict: HintVerdict) -> str:
    text = f"{STATES[state_of(verdict)].name}: {verdict.reason}"
    if verdict.verdict == "refuted":
        message = quoted_xml(f"{HINTS[name]} is {standing(verdict)}: {verdict.reason}")
        lines = "".join(f"{escaped_xml(line)}\n" for line in _evidence(tool, verdict))
        return f'<failure type="refuted" message={message}>\n{lines}</failure>\n'
    if verdict.verdict == "not_exercised":
        return f"<skipped message={quoted_xml(text)}/>\n"
    return f"<system-out>{escaped_xml(f'{text} ({basis(verdict)})')}</system-out>\n"


def _evidence(tool: ToolReport, verdict: HintVerdict) -> Iterator[str]:
    call = reproduction(tool, verdict)
    if call is not None:
        yield cut(f"tools/call {in_line(call)}", _LONGEST)
    for effect in verdict.evidence[:_MOST_EFFECTS]:
        notes = "; ".join([whence(effect), *notes_on(effect)])
        yield cut(f"{effect.kind} {effect.target} ({notes})", _LONGEST)
    if len(verdict.evidence) > _MOST_EFFECTS:
        yield f"and {len(verdict.evidence) - _MOST_EFFECTS:,} more effects"
    yield basis(verdict)
