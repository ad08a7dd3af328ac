"""The reason for which a server's process ended, found in what it wrote to standard error.

A stack trace says where an error happened, which is of no use to the person who starts a server.
"""

import re
from collections.abc import Sequence
from typing import Final

_GROUP: Final = re.compile(r"^ *[|+](?:[-+]+(?: \d+ -+)?)? ?")
"""What stands before each line of a trace of several errors (`ExceptionGroup`)."""

_ERROR: Final = re.compile(r"^(?:Uncaught )?(?:[\w.$]+\.)?\w*(?:Error|Exception|Exit|Fault)\b")
_TRACE: Final = re.compile(
    r"^(?:Traceback \(|Exception Group Traceback|File \"|During handling of|The above exception"
    r"|Node\.js v\d|node:\w|\s*at \S|[-+^~ ]+$)"
)
_HELP: Final = "For further information visit"
_MOST_DETAIL: Final = 2
"""Lines that an error's message may go on for."""


def reason_of(lines: Sequence[str], most: int) -> list[str]:
    """Return the lines that say why, `most` at most: the error of a trace, or else the last lines.

    >>> reason_of(
    ...     [
    ...         "Traceback (most recent call last):",
    ...         '  File "a.py", line 1, in main',
    ...         "    run()",
    ...         "ValueError: API_KEY is missing",
    ...     ],
    ...     5,
    ... )
    ['ValueError: API_KEY is missing']
    >>> reason_of(["starting", "API_KEY is missing"], 5)
    ['starting', 'API_KEY is missing']
    """
    bare = [_GROUP.sub("", line) if _GROUP.match(line) else line for line in lines]
    errors = [index for index, line in enumerate(bare) if _is_error(line)]
    if not any(_TRACE.match(line) for line in bare):
        return [*lines[-most:]]
    if not errors:
        return [line for line in bare if line.strip() and not _is_of_trace(line)][-most:]
    index = errors[-1]
    detail = (line.strip() for line in bare[index + 1 : index + 1 + _MOST_DETAIL])
    told = [
        line for line in detail if line and not _TRACE.match(line) and not line.startswith(_HELP)
    ]
    return [bare[index].strip(), *told][:most]


def _is_error(line: str) -> bool:
    return bool(_ERROR.match(line)) and not line.startswith(("ExceptionGroup", "BaseException"))


def _is_of_trace(line: str) -> bool:
    return bool(_TRACE.match(line)) or line.startswith(" ")
