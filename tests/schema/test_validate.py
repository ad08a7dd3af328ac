"""Schemas: what is wrong is said with its place, and nothing is fetched for it."""

import pytest

from sayso.errors import UsageError
from sayso.schema import Checker

ORDER = {
    "type": "object",
    "properties": {
        "items": {"type": "array", "items": {"properties": {"price": {"type": "number"}}}},
        "status": {"enum": ["open", "paid"]},
    },
    "required": ["items"],
    "additionalProperties": False,
}


def test_every_problem_is_told_with_its_path() -> None:
    told = {str(one) for one in Checker(ORDER).problems({"items": [{"price": "x"}], "extra": 1})}
    assert told == {
        'items[0].price: "x" is not of type "number"',
        "Additional properties are not allowed ('extra' was unexpected)",
    }


def test_what_fits_has_no_problems() -> None:
    checker = Checker(ORDER)
    assert checker.problems({"items": [], "status": "paid"}) == ()
    assert checker.is_valid({"items": []})
    assert not checker.is_valid({})


def test_problems_are_told_up_to_a_bound() -> None:
    checker = Checker({"type": "array", "items": {"type": "string"}})
    told = checker.problems(list(range(100)))
    assert len(told) == 21
    assert str(told[-1]) == "and more"


@pytest.mark.parametrize("schema", [{"type": "objekt"}, {"minimum": "x"}, {"$ref": "#/nowhere"}])
def test_what_is_no_schema_is_told(schema: dict[str, object]) -> None:
    with pytest.raises(UsageError, match="not a JSON Schema"):
        Checker(schema)


def test_another_document_is_never_fetched() -> None:
    with pytest.raises(UsageError, match="not a JSON Schema"):
        Checker({"$ref": "http://127.0.0.1:9/schema.json"})


@pytest.mark.parametrize("schema", [True, False])
def test_a_schema_may_be_a_boolean(*, schema: bool) -> None:
    assert Checker(schema).is_valid(1) is schema


def test_a_problem_quotes_no_more_than_a_person_reads_and_still_says_what_is_wrong() -> None:
    checker = Checker({"additionalProperties": {"type": "integer"}})
    (problem,) = checker.problems({"k" * 1_000_000: "v" * 1_000_000})
    assert len(str(problem)) < 1000
    assert problem.message.endswith('is not of type "integer"')
    assert problem.path.startswith("kkk")
