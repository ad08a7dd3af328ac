"""The arguments and the result of a call, apart."""

import re
from dataclasses import dataclass
from typing import Final

_TOKEN: Final = re.compile(
    r"""
      "(?:[^"\\]|\\.)*"                                   # a string
    | <<
    | (?<=[\w)])<(?:/[^<>]*(?:<[^<>]*>)?[^<>]*            # what a descriptor is: a path,
          |[A-Za-z][\w-]*:\[.*?\]                         # a socket, a pipe,
          |[^<>]*)>                                       # or another thing
    | /\*.*?\*/                                           # strace's own remark
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
    """One call that ended. `result` is `None` where the caller was gone before it ended.

    `error` is the name of the error, such as `ENOENT`, and empty for what went well. `returned`
    is what strace says of a descriptor that came back, with its angle brackets.
    """

    pid: int
    time: float
    name: str
    arguments: tuple[str, ...]
    result: int | None = None
    error: str = ""
    returned: str = ""

    def argument(self, index: int) -> str:
        """The argument at an index, empty where the line was cut before it."""
        return next(iter(self.arguments[index : index + 1]), "")


def read_call(name: str, text: str, *, pid: int, time: float) -> Call:
    """The call whose arguments begin where `text` does; of a cut line, as much as is there."""
    arguments, rest = split(text)
    match = _RESULT.match(rest)
    if match is None:
        return Call(pid, time, name, arguments)
    value = None if match[1] == "?" else int(match[1], 0)
    return Call(pid, time, name, arguments, value, match[3] or "", match[2] or "")


def split(text: str) -> tuple[tuple[str, ...], str]:
    """The arguments up to the parenthesis that closes the call, and what comes after it."""
    found: list[str] = []
    start = 0
    depth = 0
    for token in _TOKEN.finditer(text):
        sign = token[0]
        if sign in _OPENING:
            depth += 1
        elif sign in _CLOSING:
            if depth == 0:
                if last := text[start : token.start()].strip():
                    found.append(last)
                return tuple(found), text[token.end() :]
            depth -= 1
        elif sign == "," and depth == 0:
            found.append(text[start : token.start()].strip())
            start = token.end()
    return (*found, text[start:].strip()), ""
