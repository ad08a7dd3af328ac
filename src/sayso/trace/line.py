"""One line of strace's file: whose it is, and what kind."""

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

_HEAD: Final = re.compile(r"(\d{1,10})\s+(\d{1,12}\.\d{1,9}) (.+)", re.DOTALL)
_RESUMED: Final = re.compile(r"<\.\.\. (\w+) resumed> ?")
_NAME: Final = re.compile(r"(\w+)\(")
_UNFINISHED: Final = " <unfinished ...>"


class Form(StrEnum):
    """What a line tells."""

    CALL = "call"
    UNFINISHED = "unfinished"
    RESUMED = "resumed"
    SIGNAL = "signal"
    EXIT = "exit"


@dataclass(frozen=True, slots=True)
class Line:
    """`pid` is that of a thread, as the tracer's side counts; `time` in seconds since 1970.

    `text` is what stands between the opening parenthesis and the line's end, of a line that is
    resumed what comes after its bracket, and of the others the whole.
    """

    pid: int
    time: float
    form: Form
    name: str
    text: str


def read_line(text: str) -> Line | None:
    """The line, or `None` where it is none that strace writes whole."""
    head = _HEAD.fullmatch(text)
    if head is None:
        return None
    pid = int(head[1])
    time = float(head[2])
    body = head[3]
    if body.startswith("+++ "):
        return Line(pid, time, Form.EXIT, "", body)
    if body.startswith("--- "):
        return Line(pid, time, Form.SIGNAL, "", body)
    if resumed := _RESUMED.match(body):
        return Line(pid, time, Form.RESUMED, resumed[1], body[resumed.end() :])
    name = _NAME.match(body)
    if name is None:
        return None
    if body.endswith(_UNFINISHED):
        rest = body[name.end() : -len(_UNFINISHED)]
        return Line(pid, time, Form.UNFINISHED, name[1], rest)
    return Line(pid, time, Form.CALL, name[1], body[name.end() :])
