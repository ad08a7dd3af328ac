"""Hints as code, and what is supposed where only some of them are known."""

import pytest

import avow
from avow.intent import HINT_NAMES, PRESETS, Hints, as_code, supposed

T, F, N = True, False, None


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_is_written_by_its_name(name: str) -> None:
    code = as_code(PRESETS[name].hints)

    assert getattr(avow, code.removeprefix("avow.")).hints == PRESETS[name].hints


@pytest.mark.parametrize(
    ("hints", "code"),
    [
        (Hints(F, T, T, F), "avow.DELETE.but(idempotent=True)"),
        (Hints(F, F, F, T), "avow.APPEND.but(open_world=True)"),
        (Hints(T, T, F, F), "avow.DELETE.but(read_only=True)"),
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
        (Hints(F, T, N, N), "avow.DELETE"),
        (Hints(N, T, N, N), "avow.DELETE"),
        (Hints(F, N, N, N), "avow.APPEND"),
        (Hints(F, N, T, N), "avow.WRITE"),
        (Hints(N, F, N, N), "avow.APPEND"),
        (Hints(F, T, F, T), "avow.SEND"),
        (Hints(F, T, T, N), "avow.DELETE.but(idempotent=True)"),
        (Hints(T, N, N, N), "avow.READ_ONLY"),
        (Hints(T, N, N, T), "avow.FETCH"),
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
