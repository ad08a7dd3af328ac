"""The hints' own facts: defaults, which value is looser, levels."""

import itertools

import pytest
from tests.intent.strategies import hints

from sayso.errors import UsageError
from sayso.intent import (
    DEFAULTS,
    HINT_NAMES,
    LOOSER,
    STORE_HINTS,
    HintName,
    Hints,
    Level,
    level_of,
    required_hints,
)
from sayso.intent.hints import default_for

EVERY_HINTS = [Hints(*values) for values in itertools.product([True, False, None], repeat=4)]


def test_the_hints_stand_in_the_order_of_the_specification() -> None:
    assert HINT_NAMES == ("read_only", "destructive", "idempotent", "open_world")


def test_the_defaults_are_those_of_the_specification() -> None:
    assert DEFAULTS == {
        "read_only": False,
        "destructive": True,
        "idempotent": False,
        "open_world": True,
    }


def test_the_looser_value_is_the_one_that_permits_more() -> None:
    assert LOOSER == {
        "read_only": True,
        "destructive": False,
        "idempotent": True,
        "open_world": False,
    }


@pytest.mark.parametrize(
    ("read_only", "destructive", "level"),
    [
        (True, False, Level.READ),
        (True, True, Level.READ),
        (False, False, Level.WRITE),
        (False, True, Level.DESTRUCTIVE),
    ],
)
def test_the_level_follows_from_two_hints(
    *, read_only: bool, destructive: bool, level: Level
) -> None:
    assert level_of(read_only=read_only, destructive=destructive) is level


def test_levels_are_spelt_as_policies_and_pages_spell_them() -> None:
    assert [str(level) for level in Level] == ["read", "write", "destructive"]


@pytest.mark.parametrize("name", HINT_NAMES)
def test_a_hint_is_found_by_its_name(name: HintName) -> None:
    hints = Hints(**{name: True})

    assert {other: hints[other] for other in HINT_NAMES} == {
        other: True if other == name else None for other in HINT_NAMES
    }


@pytest.mark.parametrize("name", HINT_NAMES)
def test_hints_are_complete_only_when_none_is_unset(name: HintName) -> None:
    whole = dict.fromkeys(HINT_NAMES, False)

    assert Hints(**whole).is_complete
    assert not Hints(**{**whole, name: None}).is_complete


@pytest.mark.parametrize(
    ("said", "filled"),
    [
        (Hints(), hints("FTFT")),
        (Hints(read_only=False), hints("FTFT")),
        (Hints(read_only=True), hints("TFTT")),
        (Hints(destructive=False), hints("FFFT")),
        (Hints(idempotent=True), hints("FTTT")),
        (Hints(open_world=False), hints("FTFF")),
    ],
)
def test_what_is_unset_is_filled_with_what_then_holds(said: Hints, filled: Hints) -> None:
    assert said.with_defaults() == filled


@pytest.mark.parametrize("said", EVERY_HINTS, ids=str)
def test_filling_completes_the_hints_and_changes_none_that_is_set(said: Hints) -> None:
    filled = said.with_defaults()

    assert filled.is_complete
    assert all(said[name] in (None, filled[name]) for name in HINT_NAMES)


@pytest.mark.parametrize("name", HINT_NAMES)
def test_a_value_goes_before_the_default(name: HintName) -> None:
    assert default_for(name, None) is DEFAULTS[name]
    assert default_for(name, LOOSER[name]) is LOOSER[name]
    assert default_for(name, DEFAULTS[name]) is DEFAULTS[name]


@pytest.mark.parametrize("value", ["yes", 1, 0, []])
@pytest.mark.parametrize("name", HINT_NAMES)
def test_a_hint_that_is_no_boolean_is_refused(name: HintName, value: object) -> None:
    with pytest.raises(UsageError, match=f"{name} must be True, False or None"):
        Hints(**{name: value})  # pyright: ignore[reportArgumentType] - that is the mistake


def test_a_read_must_declare_less_than_a_write_unless_a_store_wants_more() -> None:
    assert required_hints(is_read=False) == HINT_NAMES
    assert required_hints(is_read=True) == ("read_only", "open_world")
    assert required_hints(is_read=True, more=STORE_HINTS) == STORE_HINTS
