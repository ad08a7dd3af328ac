"""Questions to the person at the terminal, which only a clear yes answers with yes."""

import sys

from rich.text import Text

from sayso.cli.terminal import plain, talk
from sayso.errors import DeniedError, UsageError

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


def ask_first(question: str) -> None:
    """Ask on the terminal before a command takes something away.

    `question` names what the command acts on, and how many of it. Raises `UsageError` without a
    terminal, and `DeniedError` for any answer but a yes.
    """
    try:
        is_sure = agrees(question)
    except UsageError as error:
        fix = "Run it on a terminal, or add --yes."
        raise UsageError(f"not done without an answer: {question}", fix=fix) from error
    if not is_sure:
        raise DeniedError("nothing was changed", fix="You did not say yes.")
