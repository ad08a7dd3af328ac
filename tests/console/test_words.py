"""Every short name of the program has words in the console."""

from enum import StrEnum

import pytest

from sayso.audit import Event, Outcome
from sayso.console import words
from sayso.console.words import hint_rows
from sayso.intent import HINT_NAMES, Evidence, Guess, Hints, Level, Source, resolve
from sayso.policy import Effect, Mode


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (Level, words.LEVELS),
        (Source, words.SOURCES),
        (Event, words.EVENTS),
        (Outcome, words.OUTCOMES),
        (Effect, words.DECISIONS),
        (Mode, words.MODES),
    ],
)
def test_every_name_has_words(names: type[StrEnum], said: dict[str, object]) -> None:
    assert set(said) == set(names)


def test_every_hint_has_words_in_its_order() -> None:
    assert tuple(words.HINTS) == HINT_NAMES


def test_no_two_levels_share_a_sign() -> None:
    assert len({level.sign for level in words.LEVELS.values()}) == len(words.LEVELS)


def test_a_person_is_named_unless_it_is_whoever_sits_here() -> None:
    assert words.person("local") == "this machine’s user"
    assert words.person("amy@example.com") == "amy@example.com"


def test_an_inferred_hint_says_why_where_that_is_known() -> None:
    inferred = {"destructive": Guess(value=True, confidence=0.99, reasons=("its name", "its text"))}
    hints = resolve(Evidence(Hints(read_only=False), inferred)).to_dict()  # pyright: ignore[reportArgumentType]

    rows = {row.name: row for row in hint_rows(hints, inferred)}  # pyright: ignore[reportArgumentType]

    assert rows["Destructive"].source == "inferred from its name or description"
    assert rows["Destructive"].reason == "its name; its text (0.99)"
    assert rows["Read-only"].reason == ""
    assert {row.reason for row in hint_rows(hints)} == {""}
