"""Terminal input and output: results on stdout, messages on stderr, nothing unprintable."""

import contextlib
import json
import sys
from collections.abc import Generator, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

from sayso.errors import DeniedError, SaysoError, UsageError
from sayso.pages import page_address
from sayso.schema import is_unseen, plain

if TYPE_CHECKING:
    from sayso.styled import Screen, Table

_SCHEMA: Final = 1
_YES: Final = frozenset({"y", "yes"})


def out() -> "Screen":
    """Return the screen for results."""
    from sayso.styled import stdout

    return stdout()


def talk() -> "Screen":
    """Return the screen for messages, on stderr."""
    from sayso.styled import stderr

    return stderr()


def show_text(text: str, style: str = "") -> None:
    """Print a line of a result."""
    from sayso.styled import Text

    out().print(Text(plain(text), style))


def tell(text: str) -> None:
    """Print a message on stderr."""
    talk().print(plain(text))


def say(text: str) -> None:
    """Write a message to stderr without escaping; pass text that `plain` returned."""
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


def make_table(*names: str) -> "Table":
    """Return an empty table with these columns, which fold long texts."""
    from sayso.styled import Table

    return Table(names)


def plural(count: int, noun: str) -> str:
    """Return the noun in the form that `count` requires.

    >>> plural(1, "tool"), plural(2, "tool")
    ('tool', 'tools')
    """
    return noun if count == 1 else f"{noun}s"


def listed(texts: Iterable[str], most: int) -> str:
    """Join at most `most` texts with commas, and count the rest.

    >>> listed(["a", "b", "c"], 2)
    'a, b, 1 more'
    """
    every = [*texts]
    shown = every[:most]
    if len(every) > most:
        shown.append(f"{len(every) - most:,} more")
    return ", ".join(shown)


def print_json(value: Any) -> None:
    """Print one JSON document on stdout."""
    sys.stdout.write(as_json(value))


def as_json(value: Any) -> str:
    """Return the text of one JSON document, with nothing unprintable."""
    return f"{_json(value, indent=2)}\n"


def print_document(fields: Mapping[str, Any]) -> None:
    """Print one JSON document with its schema number."""
    print_json({"schema": _SCHEMA, **fields})


def print_error(error: SaysoError) -> None:
    """Print an error with its place and its fix."""
    from sayso.styled import Text

    what = error.what
    if error.where:
        what = f"{error.where}: {what}"
    lines = [*what.split("\n"), *(error.fix or "").split("\n")]
    text = Text("sayso: ", "bold red")
    text.append("\n".join(plain(line) for line in lines if line), "")
    text.append(f"\n{page_address('guides/troubleshooting', error.code)}", "dim")
    talk().print(text)


def print_error_json(error: SaysoError) -> None:
    """Print an error as one line of JSON on stderr."""
    sys.stderr.write(f"{_json(error.to_dict())}\n")


def print_errors(errors: Iterable[SaysoError], *, is_json: bool) -> int:
    """Print all errors, and return the highest exit code; 0 without errors."""
    code = 0
    for error in errors:
        code = max(code, error.exit_code)
        if is_json:
            print_error_json(error)
        else:
            print_error(error)
    return code


@contextlib.contextmanager
def working(what: str) -> Generator[None]:
    """Show a progress message, only on a terminal."""
    console = talk()
    if not console.is_terminal:
        yield
        return
    with console.status(what):
        yield


def agrees(question: str) -> bool:
    """Ask a yes-or-no question on the terminal, and return whether the answer is yes.

    Input from before the question is discarded. Raises `UsageError` without a terminal.
    """
    from sayso.styled import Text

    if not sys.stdin.isatty():
        fix = "Run the command in a terminal, or check the change and add --yes."
        raise UsageError("a confirmation requires a terminal", fix=fix)
    import termios

    termios.tcflush(sys.stdin, termios.TCIFLUSH)
    talk().print(Text(f"{plain(question)} [y/N] "), end="")
    return sys.stdin.readline().strip().lower() in _YES


def check_agrees(question: str) -> None:
    """Ask to confirm a change that was shown. Raises `DeniedError` if the answer is not yes."""
    if not agrees(question):
        raise DeniedError("nothing was changed", fix="The answer was not yes.")


def ask_first(question: str) -> None:
    """Ask on the terminal before a destructive command.

    `question` names the objects and their number. Raises `UsageError` without a terminal, and
    `DeniedError` for any answer but a yes.
    """
    try:
        check_agrees(question)
    except UsageError as error:
        fix = "Run the command in a terminal, or add --yes."
        raise UsageError(f"confirmation required: {question}", fix=fix) from error


def _json(value: Any, indent: int | None = None) -> str:
    """Return JSON that escapes the same characters as `plain`, except line breaks."""
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    return "".join(
        json.dumps(char)[1:-1] if char != "\n" and is_unseen(char) else char for char in text
    )
