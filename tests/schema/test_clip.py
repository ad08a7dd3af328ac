"""One text that is cut: how long it may be, and where no cut is made."""

from hypothesis import given
from hypothesis import strategies as st

from sayso.schema.clipping import MARKER, clip, marked


@given(st.text(min_size=100, max_size=300), st.integers(60, 90))
def test_a_cut_text_is_as_long_as_there_is_room(text: str, room: int) -> None:
    shown = clip(text, room)
    kept = shown.rindex(MARKER)

    assert len(shown) <= room
    assert shown == marked(text, kept)


def test_where_there_is_no_room_the_marker_is_all_that_stays() -> None:
    assert clip("word " * 100, 5) == "… [cut: the first 0 of 500 characters]"


def test_a_letter_loses_no_mark_but_for_one_with_more_marks_than_any_has() -> None:
    accent = "\u0301"

    assert clip(f"{'a' * 18}e{accent * 10}{'b' * 100}", 60).partition(MARKER)[0] == "a" * 18
    kept = clip(f"e{accent * 500}", 100).partition(MARKER)[0]
    assert kept == f"e{accent * (len(kept) - 1)}"
    assert len(kept) > 50
