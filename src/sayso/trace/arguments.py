"""The arguments and the result of a system call."""

import re
from dataclasses import dataclass
from typing import Final

_TOKEN: Final = re.compile(
    r"""
      "(?:[^"\\]|\\.)*"                                   # a string
    | <<
    | (?<=[\w)])<(?:/[^<>]*(?:<[^<>]*>)?[^<>]*            # a descriptor's path,
          |[A-Za-z][\w-]*:\[.*?\]                         # its socket or pipe,
          |[^<>]*)>                                       # or another description
    | /\*.*?\*/                                           # a comment of strace
    | [\[{(] | [\]})] | ,
    | [^"<>()\[\]{},/]+
    | .
    """,
    re.VERBOSE | re.DOTALL,
)
_RESULT: Final = re.compile(
    r"\s*= (0x[0-9a-f]+|-?\d+|\?)(?:(<.*>(?:\(deleted\))?))?(?: (E[A-Z0-9]+)\b)?"
)
_OPENING: Final = frozenset("[{(")
_CLOSING: Final = frozenset("]})")


@dataclass(frozen=True, slots=True)
class Call:
    """A system call that has ended. `result` is `None` if its thread ended before it returned.

    `error` is a name such as `ENOENT`, or empty. `returned` is strace's description of a returned
    descriptor, with the angle brackets.
    """

    pid: int
    time: float
    name: str
    arguments: tuple[str, ...]
    result: int | None = None
    error: str = ""
    returned: str = ""

    def argument(self, index: int) -> str:
        """Return the argument at an index, or "" if the line was cut off before it."""
        return next(iter(self.arguments[index : index + 1]), "")


def read_call(name: str, text: str, *, pid: int, time: float) -> Call:
    """Read a call; `text` starts with its arguments. A line that was cut off is read in part."""
    arguments, rest = split(text)
    match = _RESULT.match(rest)
    if match is None:
        return Call(pid, time, name, arguments)
    value = None if match[1] == "?" else int(match[1], 0)
    return Call(pid, time, name, arguments, value, match[3] or "", match[2] or "")


def split(text: str) -> tuple[tuple[str, ...], str]:
    """Return the arguments, and the text after the closing parenthesis."""
    arguments: list[str] = []
    start = 0
    depth = 0
    for token in _TOKEN.finditer(text):
        sign = token[0]
        if sign in _OPENING:
            depth += 1
        elif sign in _CLOSING:
            if depth == 0:
                if last := text[start : token.start()].strip():
                    arguments.append(last)
                return tuple(arguments), text[token.end() :]
            depth -= 1
        elif sign == "," and depth == 0:
            arguments.append(text[start : token.start()].strip())
            start = token.end()
    return (*arguments, text[start:].strip()), ""
