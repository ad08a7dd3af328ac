"""A report as lines for a file: what a terminal shows of it, the evidence too."""

from collections.abc import Iterator
from typing import Final

from rich.text import Text

from sayso.verify.report.lines import evidence_lines, summary_lines, tool_line
from sayso.verify.verdict import Report

_WIDTH: Final = 160


def as_text(report: Report) -> str:
    """One line for each tool, what stands behind each refuted hint, the summary."""
    return "".join(f"{line.plain.rstrip()}\n" for line in _lines(report))


def _lines(report: Report) -> Iterator[Text]:
    for tool in report.tools:
        yield tool_line(tool, _WIDTH)
    yield from evidence_lines(report)
    yield from summary_lines(report, is_evidence=True)
