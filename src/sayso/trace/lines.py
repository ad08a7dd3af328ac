"""A reader of strace's lines. If another thread interrupts a call, it joins the two lines."""

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from sayso.trace.arguments import Call, read_call

_HEAD: Final = re.compile(r"(\d{1,10})\s+(\d{1,12}\.\d{1,9}) (.+)", re.DOTALL)
_RESUMED: Final = re.compile(r"<\.\.\. (\w+) resumed> ?")
_NAME: Final = re.compile(r"(\w+)\(")
_UNFINISHED: Final = " <unfinished ...>"
_MOST_OPEN: Final = 10_000
"""The maximum number of threads with an unfinished call; beyond it the oldest is dropped."""


class LineKind(StrEnum):
    """The kind of a line."""

    CALL = "call"
    UNFINISHED = "unfinished"
    RESUMED = "resumed"
    SIGNAL = "signal"
    EXIT = "exit"


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a trace. `time` is Unix time in seconds.

    `pid` is the thread's number outside the sandbox. `text` is what follows the opening parenthesis
    of a call or the `resumed>` of a resumed call. For signals and exits, it is what follows the
    time.
    """

    pid: int
    time: float
    form: LineKind
    name: str
    text: str


def read_line(text: str) -> Line | None:
    """Read a line; return `None` if it is not a complete line of strace's output."""
    head = _HEAD.fullmatch(text)
    if head is None:
        return None
    pid = int(head[1])
    time = float(head[2])
    body = head[3]
    if body.startswith("+++ "):
        return Line(pid, time, LineKind.EXIT, "", body)
    if body.startswith("--- "):
        return Line(pid, time, LineKind.SIGNAL, "", body)
    if resumed := _RESUMED.match(body):
        return Line(pid, time, LineKind.RESUMED, resumed[1], body[resumed.end() :])
    name = _NAME.match(body)
    if name is None:
        return None
    if body.endswith(_UNFINISHED):
        rest = body[name.end() : -len(_UNFINISHED)]
        return Line(pid, time, LineKind.UNFINISHED, name[1], rest)
    return Line(pid, time, LineKind.CALL, name[1], body[name.end() :])


class CallReader:
    """Reads a trace line by line. Calls like `exit`, which never return, have no result value."""

    def __init__(self) -> None:
        self._open: dict[int, Line] = {}

    def take(self, text: str) -> Call | Line | None:
        """Return the call that this line completes, the line if it ends a thread, else `None`."""
        line = read_line(text)
        match line:
            case None | Line(form=LineKind.SIGNAL):
                return None
            case Line(form=LineKind.UNFINISHED):
                self._keep(line)
                return None
            case Line(form=LineKind.RESUMED):
                begun = self._open.pop(line.pid, None)
                if begun is None or begun.name != line.name:
                    return None
                text = begun.text + line.text
                return read_call(begun.name, text, pid=begun.pid, time=begun.time)
            case Line(form=LineKind.EXIT):
                self._open.pop(line.pid, None)
                return line
            case _:
                return read_call(line.name, line.text, pid=line.pid, time=line.time)

    def _keep(self, line: Line) -> None:
        if len(self._open) >= _MOST_OPEN:
            self._open.pop(next(iter(self._open)))
        self._open[line.pid] = line
