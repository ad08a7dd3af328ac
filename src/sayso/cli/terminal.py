"""What a person reads: results on stdout, talk on stderr, nothing that could steer a terminal."""

import contextlib
import json
import sys
from collections.abc import Generator
from typing import TYPE_CHECKING, Any, Final

from sayso.errors import SaysoError
from sayso.schema import is_unseen, plain

if TYPE_CHECKING:
    from rich.console import Console

_PIPE_WIDTH: Final = 160


def out() -> "Console":
    """Where results go. Without a terminal, lines are as long as they need."""
    from rich.console import Console

    class Results(Console):
        """Raises `BrokenPipeError` where its base would end the process with exit code 1."""

        def on_broken_pipe(self) -> None:
            raise BrokenPipeError

    console = Results(highlight=False, markup=False, emoji=False)
    if not console.is_terminal:
        console.width = _PIPE_WIDTH
    return console


def talk() -> "Console":
    """Where everything else goes."""
    from rich.console import Console

    return Console(stderr=True, highlight=False, markup=False, emoji=False, soft_wrap=True)


def say(text: str) -> None:
    """Lines of talk that need nothing but their words; the caller has made them `plain`."""
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


def print_json(value: Any) -> None:
    """One JSON document on stdout."""
    sys.stdout.write(f"{_json(value, indent=2)}\n")


def print_error(error: SaysoError) -> None:
    """What went wrong, where, and what to do."""
    from rich.text import Text

    what = f"{error.where}: {error.what}" if error.where else error.what
    lines = [*what.split("\n"), *(error.fix or "").split("\n")]
    text = Text("sayso: ", style="bold red")
    text.append("\n".join(plain(line) for line in lines if line), "not bold default")
    talk().print(text)


def print_error_json(error: SaysoError) -> None:
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
        json.dumps(char)[1:-1] if char != "\n" and is_unseen(char) else char for char in text
    )
