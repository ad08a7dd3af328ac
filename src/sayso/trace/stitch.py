"""Calls put together from lines: those that another thread's line cut in two are joined."""

from typing import Final

from sayso.trace.arguments import Call, read_call
from sayso.trace.line import Form, Line, read_line

_MOST_OPEN: Final = 10_000
"""Threads that may be in the middle of a call at once; beyond, the oldest is forgotten."""


class Stitcher:
    """Gives the calls of a trace, one line after the other, and tells who ended.

    A call that never returns (`execve` of a thread that is replaced, `exit`) is given when its
    thread ends, without a result.
    """

    def __init__(self) -> None:
        self._open: dict[int, Line] = {}

    def take(self, text: str) -> Call | Line | None:
        """The call that this line ends; the line itself where it tells of an end; else `None`."""
        line = read_line(text)
        match line:
            case None | Line(form=Form.SIGNAL):
                return None
            case Line(form=Form.UNFINISHED):
                self._keep(line)
                return None
            case Line(form=Form.RESUMED):
                begun = self._open.pop(line.pid, None)
                return None if begun is None else _join(begun, line)
            case Line(form=Form.EXIT):
                self._open.pop(line.pid, None)
                return line
            case _:
                return read_call(line.name, line.text, pid=line.pid, time=line.time)

    def _keep(self, line: Line) -> None:
        if len(self._open) >= _MOST_OPEN:
            self._open.pop(next(iter(self._open)))
        self._open[line.pid] = line


def _join(begun: Line, resumed: Line) -> Call | None:
    if begun.name != resumed.name:
        return None
    text = begun.text + resumed.text
    return read_call(begun.name, text, pid=begun.pid, time=begun.time)
