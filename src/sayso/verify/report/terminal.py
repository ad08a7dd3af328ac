"""A live report on a terminal: progress on stderr, results on stdout."""

import time
from collections.abc import Callable, Iterable
from types import TracebackType
from typing import Final, Self

from sayso.schema import plain
from sayso.styled import Screen, Status, Text
from sayso.verify.event import Called, Ended, Event, Judged, Phase, Started
from sayso.verify.report.lines import evidence_lines, fitted, folded, summary_lines, tool_line
from sayso.verify.report.words import count_of
from sayso.verify.verdict import ToolReport

_NARROW_WIDTH: Final = 70
_LABEL_WIDTH: Final = 24
_BAR_WIDTH: Final = 20


class Terminal:
    """Shows the events of a run as they happen.

    Verdicts go to `results`, progress goes to `talk`. On a terminal, progress is a bar with the
    remaining time; otherwise it is one line per phase. Leaving the context removes the bar.
    """

    def __init__(
        self,
        results: Screen,
        talk: Screen,
        *,
        is_evidence: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._results = results
        self._talk = talk
        self._is_evidence = is_evidence
        self._printed: set[str] = set()
        self._status = Status(talk)
        self._clock = clock
        self._begun: float | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._status.clear()

    def take(self, event: Event) -> None:
        match event:
            case Phase():
                self._enter(f"{event.name}: {event.detail}" if event.detail else event.name)
            case Started():
                active = sum(layer.is_active for layer in event.layers)
                layers = f"{active} of {count_of(len(event.layers), 'layer')} active"
                self._enter(f"{count_of(len(event.tools), 'tool')}, {layers}")
            case Called():
                self._move(event.made.tool, event.done, event.planned)
            case Judged():
                self._move(event.tool.name, event.done, event.planned)
                self._print_tools([event.tool])
            case Ended():
                tools = event.report.tools
                self._print_tools(tool for tool in tools if tool.name not in self._printed)
                self._status.clear()
                if self._is_evidence:
                    self._print(evidence_lines(event.report))
                self._print(summary_lines(event.report, is_evidence=self._is_evidence))

    def _enter(self, what: str) -> None:
        if self._talk.is_terminal:
            self._status.update(self._label(what))
        else:
            self._talk.print(plain(what))

    def _move(self, tool: str, done: int, planned: int) -> None:
        now = self._clock()
        if self._begun is None:
            self._begun = now
        total = max(planned, done)  # the plan is an estimate
        parts = [self._label(tool), f"{done}/{total}"]
        if done:
            minutes, seconds = divmod(round((now - self._begun) / done * (total - done)), 60)
            parts.append(f"{minutes:02}:{seconds:02}")
        filled = _BAR_WIDTH * done // max(total, 1)
        parts.insert(1, "━" * filled + " " * (_BAR_WIDTH - filled))
        self._status.update(" ".join(parts))

    def _label(self, text: str) -> str:
        width = _LABEL_WIDTH if self._talk.width >= _NARROW_WIDTH else _LABEL_WIDTH // 2
        return fitted(plain(text), width)

    def _print_tools(self, tools: Iterable[ToolReport]) -> None:
        """Print one line per tool. Hide the bar meanwhile: it may be on the same screen."""
        shown = self._status.text
        self._status.clear()
        for tool in tools:
            self._printed.add(tool.name)
            self._print([tool_line(tool, self._results.width)])
        if shown:
            self._status.update(shown)

    def _print(self, lines: Iterable[Text]) -> None:
        for line in lines:
            parts = folded(line, self._results) if self._results.is_terminal else [line]
            for part in parts:
                self._results.print(part)
