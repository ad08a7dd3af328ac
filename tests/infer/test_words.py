"""The lists of words agree with each other."""

import pytest

from avow.infer import VERBS, words

GROUPS = ["DESTROY", "REPEATABLE", "APPEND"]


def test_no_word_both_reads_and_writes() -> None:
    assert words.READ.isdisjoint(words.WRITE)


def test_what_surely_reads_reads_and_is_no_common_noun_that_writes() -> None:
    assert words.SURELY_READ < words.READ
    assert words.SURELY_READ.isdisjoint(words.WRITE)


@pytest.mark.parametrize("group", GROUPS)
def test_each_word_that_writes_says_one_thing_about_what_it_writes(group: str) -> None:
    others = [getattr(words, other) for other in GROUPS if other != group]

    assert getattr(words, group) < words.WRITE
    assert all(getattr(words, group).isdisjoint(other) for other in others)


def test_what_is_sent_is_not_taken_for_repeatable() -> None:
    assert words.SEND < words.APPEND


def test_no_word_is_both_inside_and_outside() -> None:
    assert words.CLOSED.isdisjoint(words.OPEN)


def test_a_verb_that_is_as_often_a_noun_is_a_known_verb_and_not_a_sure_one() -> None:
    assert words.NOUNS < words.READ | words.WRITE
    assert VERBS == (words.READ | words.WRITE) - words.NOUNS


@pytest.mark.parametrize("word", ["run", "export", "process", "execute", "manage"])
def test_a_verb_that_goes_both_ways_is_in_no_list(word: str) -> None:
    assert word not in words.READ | words.WRITE


@pytest.mark.parametrize(
    "word", sorted(words.READ | words.WRITE | words.CLOSED | words.OPEN | words.NOUNS)
)
def test_a_word_is_one_lower_case_word(word: str) -> None:
    assert word.isascii()
    assert word.isalpha()
    assert word.islower()
