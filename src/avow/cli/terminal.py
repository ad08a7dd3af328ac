"""What a person reads: results on stdout, talk on stderr, nothing that could steer a terminal."""

import contextlib
import json
import sys
import unicodedata
from collections.abc import Generator
from typing import Any, Final

from rich.console import Console
from rich.text import Text

from avow.errors import AvowError

_PIPE_WIDTH: Final = 160

Out = Console


def out() -> Console:
    """Where results go. Without a terminal, lines are as long as they need."""
    console = Console(highlight=False, markup=False, emoji=False)
    if not console.is_terminal:
        console.width = _PIPE_WIDTH
    return console


def talk() -> Console:
    """Where everything else goes."""
    return Console(stderr=True, highlight=False, markup=False, emoji=False, soft_wrap=True)


def plain(text: str) -> str:
    """`text` of a stranger with control and direction characters spelt out.

    A server names its tools; an escape sequence there must not reach the terminal.
    """
    return "".join(
        char if char == "\n" or unicodedata.category(char)[0] != "C" else f"\\u{ord(char):04x}"
        for char in text
    )


def print_json(value: Any) -> None:
    """One JSON document on stdout."""
    sys.stdout.write(json.dumps(value, ensure_ascii=False, indent=2) + "\n")


def print_error(error: AvowError) -> None:
    """What went wrong, where, and what to do."""
    line = Text("avow: ", style="bold red")
    line.append(
        plain(f"{error.where}: {error.what}" if error.where else error.what), "not bold default"
    )
    if error.fix:
        line.append(f"\n{plain(error.fix)}", "not bold default")
    talk().print(line)


def print_error_json(error: AvowError) -> None:
    """The same as one line of JSON on stderr."""
    sys.stderr.write(json.dumps(error.to_dict(), ensure_ascii=False) + "\n")


@contextlib.contextmanager
def working(what: str) -> Generator[None]:
    """Show that something takes a while; only on a terminal."""
    console = talk()
    if not console.is_terminal:
        yield
        return
    with console.status(what):
        yield
