from collections.abc import Callable, Mapping
from typing import Any

from sayso.schema import Checker
from sayso.verify.call import Case
from sayso.verify.inputs.shrink import shrink, smaller

SCHEMA = {
    "type": "object",
    "properties": {"id": {"type": "integer", "minimum": 1}, "mode": {"enum": ["a", "b"]}},
    "required": ["id"],
}


def always(_: Mapping[str, Any]) -> bool:
    return True


def never(_: Mapping[str, Any]) -> bool:
    return False


def is_b(arguments: Mapping[str, Any]) -> bool:
    return arguments.get("mode") == "b"


class Trials:
    """What refutes, and what was tried."""

    def __init__(self, refutes: Callable[[Mapping[str, Any]], bool]) -> None:
        self.refutes = refutes
        self.tried: list[Any] = []

    async def __call__(self, case: Case) -> bool:
        self.tried.append(case.arguments)
        return self.refutes(case.arguments)


async def test_the_smallest_arguments_that_still_refute_are_found() -> None:
    case = Case({"id": 70, "mode": "b", "note": "long words", "tags": ["x", "y"]})
    trials = Trials(is_b)

    found = await shrink(case, trials, is_valid=Checker(SCHEMA).is_valid, most=40)

    assert found.arguments == {"id": 1, "mode": "b"}
    assert all(Checker(SCHEMA).is_valid(one) for one in trials.tried)


async def test_no_more_is_tried_than_is_allowed_and_nothing_twice() -> None:
    case = Case(dict.fromkeys("abcdefgh", 100))
    trials = Trials(never)

    found = await shrink(case, trials, is_valid=always, most=5)

    assert found == case
    assert len(trials.tried) == 5
    assert all(trials.tried.count(one) == 1 for one in trials.tried)


async def test_a_case_keeps_its_classes_and_where_it_came_from() -> None:
    case = Case({"a": 5, "b": 1}, frozenset({"a=minimum"}), "boundary")

    found = await shrink(case, Trials(always), is_valid=always, most=9)

    assert (found.arguments, found.classes, found.origin) == ({}, case.classes, "boundary")


def test_values_become_plainer_by_their_type() -> None:
    found = list(smaller({"a": {"b": [True, "word"]}}))

    assert {"a": {}} in found
    assert {"a": {"b": []}} in found
    assert {"a": {"b": [False, "word"]}} in found
    assert {"a": {"b": [True, "wo"]}} in found
