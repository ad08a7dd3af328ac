"""Hints as code, and what is supposed where only some of them are known."""

import pytest

import sayso
from sayso.intent import HINT_NAMES, PRESETS, Hints, as_code, supposed

T, F, N = True, False, None


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_is_written_by_its_name(name: str) -> None:
    code = as_code(PRESETS[name].hints)

    assert getattr(sayso, code.removeprefix("sayso.")).hints == PRESETS[name].hints


@pytest.mark.parametrize(
    ("hints", "code"),
    [
        (Hints(F, T, T, F), "sayso.DELETE.but(idempotent=True)"),
        (Hints(F, F, F, T), "sayso.APPEND.but(open_world=True)"),
        (Hints(T, T, F, F), "sayso.DELETE.but(read_only=True)"),
    ],
)
def test_what_is_different_from_the_nearest_preset_is_written_behind_it(
    hints: Hints, code: str
) -> None:
    assert as_code(hints) == code


@pytest.mark.parametrize(
    ("hints", "code"),
    [
        # A name that deletes does not send, and one that creates does not destroy.
        (Hints(F, T, N, N), "sayso.DELETE"),
        (Hints(N, T, N, N), "sayso.DELETE"),
        (Hints(F, N, N, N), "sayso.APPEND"),
        (Hints(F, N, T, N), "sayso.WRITE"),
        (Hints(N, F, N, N), "sayso.APPEND"),
        (Hints(F, T, F, T), "sayso.SEND"),
        (Hints(F, T, T, N), "sayso.DELETE.but(idempotent=True)"),
        (Hints(T, N, N, N), "sayso.READ_ONLY"),
        (Hints(T, N, N, T), "sayso.FETCH"),
    ],
)
def test_what_is_supposed_keeps_what_is_known_and_adds_no_loss(hints: Hints, code: str) -> None:
    found = supposed(hints)

    assert found is not None
    assert as_code(found) == code
    assert all(hints[one] in (None, found[one]) for one in HINT_NAMES)


@pytest.mark.parametrize("hints", [Hints(), Hints(open_world=T), Hints(idempotent=T)])
def test_nothing_is_supposed_where_nothing_speaks_of_reading_or_destroying(hints: Hints) -> None:
    assert supposed(hints) is None
