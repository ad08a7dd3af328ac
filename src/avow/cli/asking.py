"""One question to the person at the terminal, which only a clear yes answers with yes."""

import sys

from rich.text import Text

from avow.cli.terminal import plain, talk
from avow.errors import UsageError

_YES = frozenset({"y", "yes"})


def agrees(question: str) -> bool:
    """Whether the person at the terminal says yes; anything else is a no.

    What was typed before the question was shown does not answer it. Raises `UsageError` where
    nobody can be asked.
    """
    if not sys.stdin.isatty():
        fix = "Run it on a terminal, or look at the change and say --yes."
        raise UsageError("nobody is there to be asked", fix=fix)
    import termios

    termios.tcflush(sys.stdin, termios.TCIFLUSH)
    talk().print(Text(f"{plain(question)} [y/N] "), end="")
    return sys.stdin.readline().strip().lower() in _YES
