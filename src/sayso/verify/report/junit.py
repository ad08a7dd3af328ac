"""A report as JUnit XML: a suite for the server, a case for each hint of each tool."""

from collections.abc import Iterator
from typing import Final

from sayso.intent import HintName
from sayso.report import escaped_xml, junit_case, junit_suite, quoted_xml, write_junit
from sayso.schema import cut
from sayso.verify.report.evidence import again, behind, in_line, notes_on, whence
from sayso.verify.report.summary import hints_of
from sayso.verify.report.words import HINTS, STATES, standing, state_of
from sayso.verify.verdict import HintVerdict, Report, ToolReport

_MOST: Final = 20
_LONGEST: Final = 2000


def as_junit(report: Report) -> str:
    """The document. A refuted hint has failed, one that was not exercised is skipped."""
    cases = [_case(tool, name, found) for tool in report.tools for name, found in hints_of(tool)]
    counts = report.count()
    figures = (
        f'tests="{len(cases)}" failures="{counts["refuted"]}" errors="0" '
        f'skipped="{counts["not_exercised"]}" time="{report.seconds:.3f}"'
    )
    server = str(report.server.get("name") or report.target)
    suite = junit_suite(server, cases, figures=figures)
    return write_junit(f"sayso verify, profile {report.profile}", [suite], figures=figures)


def _case(tool: ToolReport, name: HintName, found: HintVerdict) -> str:
    return junit_case(tool.name, HINTS[name], _outcome(tool, name, found))


def _outcome(tool: ToolReport, name: HintName, found: HintVerdict) -> str:
    told = f"{STATES[state_of(found)].name}: {found.reason}"
    if found.verdict == "refuted":
        message = quoted_xml(f"{HINTS[name]} is {standing(found)}: {found.reason}")
        lines = "".join(f"{escaped_xml(line)}\n" for line in _evidence(tool, found))
        return f'<failure type="refuted" message={message}>\n{lines}</failure>\n'
    if found.verdict == "not_exercised":
        return f"<skipped message={quoted_xml(told)}/>\n"
    return f"<system-out>{escaped_xml(f'{told} ({behind(found)})')}</system-out>\n"


def _evidence(tool: ToolReport, found: HintVerdict) -> Iterator[str]:
    call = again(tool, found)
    if call is not None:
        yield cut(f"tools/call {in_line(call)}", _LONGEST)
    for effect in found.evidence[:_MOST]:
        told = "; ".join([whence(effect), *notes_on(effect)])
        yield cut(f"{effect.kind} {effect.target} ({told})", _LONGEST)
    if len(found.evidence) > _MOST:
        yield f"and {len(found.evidence) - _MOST:,} more effects"
    yield behind(found)
