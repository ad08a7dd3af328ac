"""Functions as commands: how their parameters are given, and what their help says."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest

from sayso.cli.commands import App, Parameter, Parsed, option
from sayso.errors import UsageError


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


@dataclass(frozen=True, kw_only=True)
class Size:
    """The size.

    Parameters
    ----------
    wide
        The width.
    as_
        The name.
    """

    wide: int = 3
    as_: Annotated[str | None, option("--as")] = None


@dataclass(frozen=True, kw_only=True)
class Other:
    """A group that is absent if none of its options is given."""

    high: int = 1


def paint(  # noqa: PLR0913 - one of each kind
    file: str,
    second: str | None = None,
    *words: str,
    size: Size = Size(),
    other: Other | None = None,
    colour: Colour = Colour.RED,
    form: Literal["a", "b"] = "a",
    many: list[str] | None = None,
    tags: tuple[str, ...] = (),
    to: Annotated[Path | None, option("-o", help="Where to.")] = None,
    is_dry: bool = False,
    seconds: float,
    command: Annotated[list[str] | None, Parameter(is_parsed=False)] = None,
) -> dict[str, Any]:
    """Paint a file.

    It dries by itself.

    Parameters
    ----------
    file
        The file
        to paint.
    many
        Repeatable.
    """
    return dict(locals())


def parse(function: Any, *words: str) -> Parsed:
    app = App("top", "The top.")
    app.command(function)
    parsed = app.parse([function.__name__, *words])
    assert isinstance(parsed, Parsed)
    return parsed


def test_every_kind_of_parameter_is_read() -> None:
    words = "a b c d --wide 7 --as x --high 2 --colour blue --form b --many 1 --many 2"
    more = "--tags t -o p --is-dry --seconds 1.5"

    parsed = parse(paint, *words.split(), *more.split())

    assert parsed.takes_command
    assert parsed.run() == {
        "file": "a",
        "second": "b",
        "words": ("c", "d"),
        "size": Size(wide=7, as_="x"),
        "other": Other(high=2),
        "colour": Colour.BLUE,
        "form": "b",
        "many": ["1", "2"],
        "tags": ("t",),
        "to": Path("p"),
        "is_dry": True,
        "seconds": 1.5,
        "command": None,
    }


def test_what_is_not_given_has_its_default() -> None:
    parsed = parse(paint, "a", "--seconds", "1")

    assert parsed.arguments == {"file": "a", "seconds": 1.0, "size": Size()}
    told = parsed.run()
    assert (told["second"], told["words"], told["other"], told["many"]) == (None, (), None, None)
    assert parsed.with_defaults["colour"] is Colour.RED


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("a",), "--seconds"),
        ((), "FILE"),
        (("a", "--seconds", "soon"), "soon"),
        (("a", "--seconds"), "--seconds"),
        (("a", "--seconds", "1", "--colour", "pink"), "pink"),
        (("a", "--seconds", "1", "--widt", "2"), "--wide"),
    ],
)
def test_what_does_not_fit_is_a_usage_error(words: Sequence[str], expected: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse(paint, *words)

    assert expected in caught.value.what
    assert caught.value.fix


def groups() -> App:
    inner = App("inner", "The inner one.")

    @inner.default
    def show(*, json: bool = False) -> str:
        return f"shown {json}"

    @inner.command(name="list")
    def list_() -> str:
        """List all."""
        return "listed"

    top = App("top", "The top.", version="top 1")
    top.command(name="inner")(inner)
    top.add("lint", "sayso.cli.lint:lint", "Check.")
    assert show(json=True) == "shown True"
    assert list_() == "listed"
    return top


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["inner"], "shown False"),
        (["inner", "--json"], "shown True"),
        (["inner", "list"], "listed"),
    ],
)
def test_a_group_has_commands_and_perhaps_a_default(words: list[str], expected: str) -> None:
    parsed = groups().parse(words)

    assert isinstance(parsed, Parsed)
    assert parsed.run() == expected


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ([], "The top."),
        (["-h"], "inner  The inner one."),
        (["--version"], "top 1"),
        (["inner", "--help"], "list  List all."),
        (["inner", "list", "--help"], "Usage: top inner list"),
        (["lint", "--help"], "TARGET:"),
    ],
)
def test_help_and_version_are_texts(words: list[str], expected: str) -> None:
    text = groups().parse(words)

    assert isinstance(text, str)
    assert expected in text


def test_a_page_of_help_has_the_texts_of_the_docstring() -> None:
    app = App("top", "The top.")
    app.command(paint)
    text = " ".join(str(app.parse(["paint", "--help"])).split())

    for part in (
        "Paint a file. It dries by itself. FILE: The file to paint.",
        "--wide INTEGER The width. [default: 3]",
        "-o, --to PATH Where to.",
        "[default: red]",
        "--many TEXT Repeatable.",
    ):
        assert part in text


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("inne", 'Did you mean "inner"?'),
        ("x", "Available commands: inner, lint"),
        ("--x", "option"),
    ],
)
def test_an_unknown_word_is_an_error_with_what_may_be_meant(word: str, expected: str) -> None:
    with pytest.raises(UsageError, match="Unknown") as caught:
        groups().parse([word])

    assert expected in caught.value.what


def test_the_pages_of_all_commands_are_in_order() -> None:
    names = [name for name, page in groups().pages() if page]

    assert names == ["top inner", "top inner list", "top lint"]
