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


class _Results(Console):
    """Raises `BrokenPipeError` where its base would end the process with exit code 1."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


def out() -> Console:
    """Where results go. Without a terminal, lines are as long as they need."""
    console = _Results(highlight=False, markup=False, emoji=False)
    if not console.is_terminal:
        console.width = _PIPE_WIDTH
    return console


def talk() -> Console:
    """Where everything else goes."""
    return Console(stderr=True, highlight=False, markup=False, emoji=False, soft_wrap=True)


def plain(text: str) -> str:
    """One line of a stranger's `text`, with control and direction characters spelt out.

    A server names its tools; an escape sequence there must not reach the terminal, and a line
    break must not make a line that looks like avow's own.
    """
    return "".join(f"\\u{ord(char):04x}" if _is_unseen(char) else char for char in text)


def print_json(value: Any) -> None:
    """One JSON document on stdout."""
    sys.stdout.write(f"{_json(value, indent=2)}\n")


def print_error(error: AvowError) -> None:
    """What went wrong, where, and what to do."""
    what = f"{error.where}: {error.what}" if error.where else error.what
    lines = [*what.split("\n"), *(error.fix or "").split("\n")]
    text = Text("avow: ", style="bold red")
    text.append("\n".join(plain(line) for line in lines if line), "not bold default")
    talk().print(text)


def print_error_json(error: AvowError) -> None:
    """The same as one line of JSON on stderr."""
    sys.stderr.write(f"{_json(error.to_dict())}\n")


@contextlib.contextmanager
def working(what: str) -> Generator[None]:
    """Show that something takes a while; only on a terminal."""
    console = talk()
    if not console.is_terminal:
        yield
        return
    with console.status(what):
        yield


def _json(value: Any, indent: int | None = None) -> str:
    """JSON in which, as in `plain`, nothing unseen stands as itself."""
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    return "".join(
        json.dumps(char)[1:-1] if char != "\n" and _is_unseen(char) else char for char in text
    )


def _is_unseen(char: str) -> bool:
    """Whether a character steers a terminal, turns a line's direction, or breaks it."""
    category = unicodedata.category(char)
    return category[0] == "C" or category in ("Zl", "Zp")
