"""The index: rare words say more, tools come and go, and what is not there has no part."""

import pytest

from sayso.catalog.select import index as module
from sayso.catalog.select.entry import index_entry
from sayso.catalog.select.index import MAX_WEIGHT, Index
from sayso.catalog.select.needs import read_needs
from sayso.catalog.select.scoring import score_tools, top


def made(*words: dict[str, int]) -> Index:
    index = Index()
    for number, item in enumerate(words):
        index.add(number, item, f"tool{number}")
    return index


def test_a_term_that_no_tool_has_finds_nothing() -> None:
    assert made({"lamp": 4}).find("cat") is None
    assert made().find("cat") is None


def test_what_came_and_went_has_left_no_trace() -> None:
    index = made({"lamp": 4}, {"lamp": 8, "shade": MAX_WEIGHT})
    index.remove(1, {"lamp": 8, "shade": MAX_WEIGHT})

    assert index.numbers == {0}
    assert "shade" not in index
    assert index.find("lamp") == made({"lamp": 4}).find("lamp")
    assert index.without([1]).find("lamp") == index.find("lamp")


def test_without_some_it_is_as_if_they_had_never_been() -> None:
    index = made({"lamp": 4}, {"lamp": 4, "shade": 4}, {"desk": 4})

    left = index.without({1})

    assert set(left) == {"lamp", "desk"}
    assert left.rarity("lamp") > index.rarity("lamp")


def test_of_a_common_word_only_the_best_become_candidates_in_one_order() -> None:
    index = made(*({"lamp": 4 + number % 2} for number in range(100)))
    found = index.find("lamp")

    assert found is not None
    assert len(found.scores) == 100
    assert len(found.best) == 24
    assert all(number % 2 for number in found.best)
    assert index.find("lamp") is found


def test_ties_among_candidates_are_settled_by_the_key() -> None:
    index = Index()
    for number in range(50):
        index.add(number, {"lamp": 4}, f"{50 - number:02}")
    found = index.find("lamp")

    assert found is not None
    assert set(found.best) == set(range(26, 50))


def test_what_is_kept_of_terms_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MAX_CACHED", 2)
    index = made({"lamp": 4}, {"desk": 4})

    first = index.find("lamp")
    index.find("desk")

    assert index.find("lamp") == first
    assert index.find("lamp") is not first


def test_one_need_does_not_crowd_out_another() -> None:
    files = [{"file": 12, "read": 12, f"kind{number}": 12} for number in range(12)]
    index = made(*files, {"mail": 12, "send": 12})
    scores = score_tools(index, read_needs(["Read the file, read file by file, and send mail."]))

    assert 12 in top(scores, 3, str)


def test_hidden_tools_are_not_weighed() -> None:
    index = made(*({"lamp": 4, "desk": 4} for _ in range(40)))

    for said in (["lamp"], ["lamp desk. lamp"]):
        scores = score_tools(index, read_needs(said), hidden={*range(39)})
        assert set(scores) <= {39}
        assert score_tools(index, read_needs(said), hidden=set(range(40))) == {}


def test_a_need_that_was_said_before_counts_once_in_the_whole() -> None:
    index = made({"lamp": 4}, {"desk": 4}, {"chair": 4})

    once = score_tools(index, read_needs(["lamp. desk"]))
    twice = score_tools(index, read_needs(["lamp. desk. lamp"]))

    assert once == pytest.approx(twice)


def test_of_no_scores_and_for_no_room_none_is_best() -> None:
    assert top({}, 3, str) == top({1: 0.5}, 0, str) == []
    assert top({1: 0.5, 2: 0.5, 3: 1.0}, 2, lambda at: str(-at)) == [3, 1]


def test_where_no_two_are_alike_the_best_need_no_key() -> None:
    found = made(*({"lamp": 4 + number} for number in range(50))).find("lamp")

    assert found is not None
    assert set(found.best) < set(range(50))


def test_the_most_that_a_hostile_tool_can_say_fits() -> None:
    raw = {
        "name": "a " * 500,
        "description": "a " * 9_000,
        "inputSchema": {
            "properties": {f"a{'_a' * 90}{n}": {"description": "b " * 500} for n in range(99)}
        },
    }
    entry = index_entry(raw, server="b " * 500, category="b " * 500)
    words = entry.words()

    assert max(words.values()) <= MAX_WEIGHT
    assert index_entry(entry) is entry


def test_where_the_best_are_not_enough_all_that_fit_anything_are_weighed() -> None:
    index = made(*({"lamp": 4, **({"desk": 4} if number < 2 else {})} for number in range(90)))
    needs = read_needs(["lamp desk"])

    assert len(score_tools(index, needs, enough=2)) < 90
    assert len(score_tools(index, needs, enough=40)) == 90
    assert len(score_tools(index, needs, {0}, enough=90)) == 89
