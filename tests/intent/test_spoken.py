"""Intents in MCP's own words, in each spelling, and what is refused of them."""

from types import SimpleNamespace
from typing import Any

import pytest

from sayso.errors import UsageError
from sayso.intent import READ_ONLY, Hints, Intent, as_intent, in_own_words


@pytest.mark.parametrize("word", ["read_only", "read_only_hint", "readOnlyHint"])
def test_a_hint_is_taken_in_each_spelling(word: str) -> None:
    assert in_own_words({word: True}, where="here") == {"read_only": True}
    assert Intent().but(**{word: True}).hints == Hints(read_only=True)
    assert as_intent({word: True}) == Intent(Hints(read_only=True))


@pytest.mark.parametrize("word", ["read_only", "read_only_hint", "readOnlyHint"])
def test_the_annotations_of_an_sdk_are_taken_in_each_spelling(word: str) -> None:
    annotations = SimpleNamespace(**{word: True, "title": "Notes", "audience": "all"})
    if word == "read_only":
        # An attribute with this name alone is no sign of annotations: anything may have one.
        with pytest.raises(UsageError, match=r"must be a sayso\.Intent, hints or annotations"):
            as_intent(annotations)
        return

    assert in_own_words({"annotations": annotations}, where="here") == {
        "read_only": True,
        "title": "Notes",
    }
    assert as_intent(annotations) == Intent(Hints(read_only=True), title="Notes")


def test_of_several_spellings_of_an_sdk_only_the_newest_is_read() -> None:
    class Annotations:
        read_only_hint = True

        @property
        def readOnlyHint(self) -> bool:  # noqa: N802 - as the protocol spells it
            raise AssertionError

    assert as_intent(Annotations()) == Intent(Hints(read_only=True))


def test_a_hint_that_annotations_leave_open_stays_open() -> None:
    annotations = SimpleNamespace(readOnlyHint=None, destructiveHint=False)

    assert in_own_words({"annotations": annotations}, where="here") == {"destructive": False}


def test_annotations_stand_beside_other_fields_and_what_is_no_hint_in_them_is_left_out() -> None:
    given = {"annotations": {"idempotentHint": True, "audience": ["user"]}, "title": "Notes"}

    assert in_own_words(given, where="here") == {"idempotent": True, "title": "Notes"}
    assert in_own_words({"annotations": None, "title": "Notes"}, where="here") == {"title": "Notes"}


def test_what_is_an_intent_or_hints_already_is_taken_as_it_is() -> None:
    assert as_intent(None) is None
    assert as_intent(READ_ONLY) is READ_ONLY
    assert as_intent(Hints(destructive=False)) == Intent(Hints(destructive=False))


@pytest.mark.parametrize("given", [5, "read_only", ["readOnlyHint"], object(), Hints])
def test_what_is_no_intent_is_refused(given: object) -> None:
    with pytest.raises(UsageError, match=r"must be a sayso\.Intent, hints or annotations"):
        as_intent(given)
    with pytest.raises(UsageError, match="annotations must be an object or ToolAnnotations"):
        in_own_words({"annotations": given}, where="here")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"readOnlyHint": "yes"}, "readOnlyHint must be True, False or None, not 'yes'"),
        ({"annotations": {"openWorldHint": 1}}, "openWorldHint must be True, False or None, not 1"),
        (
            {"read_only": True, "readOnlyHint": False},
            "read_only has two values, True and False",
        ),
        (
            {"annotations": {"readOnlyHint": False}, "read_only": True},
            "read_only has two values, False and True",
        ),
    ],
)
def test_a_hint_that_is_no_boolean_or_given_twice_is_refused(
    given: dict[str, Any], message: str
) -> None:
    with pytest.raises(UsageError) as caught:
        in_own_words(given, where="here")
    assert caught.value.what == message
    assert caught.value.where == "here"


def test_a_hint_that_is_given_twice_alike_is_taken_once() -> None:
    assert in_own_words({"read_only": True, "readOnlyHint": True}, where="here") == {
        "read_only": True
    }
