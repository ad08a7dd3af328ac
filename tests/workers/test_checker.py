"""Values are checked against schemas within bounds: at once or in a worker process."""

import asyncio
import contextlib
import json
import time
from typing import Any

import pytest
from tests.workers.schemas import FILTER, FITTING, condition, deep, doubling, nested

from sayso.errors import UsageError
from sayso.schema.cost import schema_cost, weight
from sayso.workers import BoundedChecker, UndecidedError, checker, jobs
from sayso.workers.pool import packed, running_pool

pytestmark = pytest.mark.anyio


@pytest.fixture(autouse=True)
def short_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checker, "CHECK_SECONDS", 1.0)


async def test_a_recursive_filter_that_fits_has_no_problems_and_takes_a_worker() -> None:
    filters = BoundedChecker(FILTER)
    assert len(json.dumps(FITTING)) > 900
    assert filters.problems_now(FITTING) is None
    assert await filters.problems(FITTING) == ()
    assert await filters.is_valid(FITTING)


async def test_what_is_wrong_in_a_small_recursive_filter_is_told_with_its_place() -> None:
    told = await BoundedChecker(FILTER).problems({"filter": {"and": [condition(), condition("x")]}})
    assert "filter.and[1].op: does not match the schema’s “enum”" in {str(one) for one in told}


async def test_a_filter_whose_problems_nobody_could_list_is_refused_with_a_place() -> None:
    told = await BoundedChecker(FILTER).problems(nested(14, "x"))
    assert told
    assert not await BoundedChecker(FILTER).is_valid(nested(10, "x"))


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        pytest.param(doubling(), {}, id="28 levels of allOf"),
        pytest.param(
            {"$dynamicRef": "#x", **{k: v for k, v in doubling().items() if k != "$ref"}}
            | {
                "$defs": {
                    **doubling()["$defs"],
                    "x": {"$dynamicAnchor": "x", "allOf": [{"$ref": "#/$defs/level0"}]},
                }
            },
            {},
            id="dynamicRef",
        ),
    ],
)
async def test_what_cannot_be_decided_in_time_is_never_taken_to_fit(
    schema: dict[str, Any], value: Any
) -> None:
    with pytest.raises(UndecidedError, match="takes longer than"):
        await BoundedChecker(schema).problems(value)
    # The worker was killed; the next check gets another.
    assert await BoundedChecker(FILTER).is_valid(FITTING)


async def test_a_check_that_takes_long_holds_up_neither_the_loop_nor_other_callers() -> None:
    slow = asyncio.ensure_future(BoundedChecker(doubling()).problems({}, "mallory"))
    await asyncio.sleep(0)
    assert await BoundedChecker(FILTER).is_valid(FITTING, "amy")
    assert not slow.done()
    with pytest.raises(UndecidedError):
        await slow


async def test_three_megabytes_of_flat_input_that_does_not_fit_end_with_a_problem() -> None:
    lists = BoundedChecker({"type": "array", "items": {"type": "string"}})
    value = [1] * 1_500_000
    assert lists.problems_now(value) is None
    told = await lists.problems(value)
    assert told[0].path == "[0]"


@pytest.mark.parametrize(
    ("schema", "value", "fits"),
    [
        ({"uniqueItems": True}, [{"a": [at]} for at in range(50_000)], True),
        ({"uniqueItems": True}, [*range(50_000), 1], False),
        ({"enum": [[at] for at in range(30_000)]}, [29_999], True),
        ({"patternProperties": {"^(a+)+(?=b)": {"type": "integer"}}}, {"a" * 5_000: "x"}, True),
        ({"contains": {"const": 7}, "minContains": 2}, [7] * 300_000, True),
        ({"dependentSchemas": {"a": {"required": ["b"]}}}, {"a": 1}, False),
        ({"properties": {"a": {}}, "unevaluatedProperties": False}, {"b": 1}, False),
        ({"multipleOf": 7}, 7 * 10**4000, True),
        ({"multipleOf": 1e-300}, 1e300, True),
        ({"$id": "http://a.example/x", "type": "object"}, {}, True),
        ({"type": "array"}, deep(300), True),
        ({"properties": {f"p{at}": {"type": "string"} for at in range(9_000)}}, {"p1": 1}, False),
    ],
)
async def test_a_costly_kind_of_schema_is_still_decided(
    schema: dict[str, Any], value: Any, *, fits: bool
) -> None:
    assert await BoundedChecker(schema).is_valid(value) is fits


async def test_a_schema_nested_thousands_deep_harms_nothing() -> None:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(400):
        schema = {"not": schema}
    with contextlib.suppress(UndecidedError):
        await BoundedChecker(schema).problems("x")
    assert await BoundedChecker(FILTER).is_valid(FITTING)


async def test_a_costly_schema_that_is_invalid_checks_nothing() -> None:
    assert await BoundedChecker({**FILTER, "minimum": "x"}).problems({}) == ()


async def test_an_invalid_cheap_schema_is_told_at_once() -> None:
    with pytest.raises(UsageError, match="not a JSON Schema"):
        BoundedChecker({"type": "objekt"})


async def test_small_values_of_ordinary_schemas_need_no_worker() -> None:
    ordinary = BoundedChecker(
        {"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]}
    )
    assert ordinary.problems_now({"id": 1}) == ()
    assert [str(one) for one in ordinary.problems_now({"id": "x"}) or ()] == [
        'id: "x" is not of type "integer"'
    ]
    assert running_pool().idle == 0


@pytest.mark.parametrize(
    ("schema", "is_linear"),
    [
        ({"properties": {"a": {"$ref": "#/$defs/b"}}, "$defs": {"b": {"type": "string"}}}, True),
        ({"items": {"$ref": "#"}}, False),
        (FILTER, False),
        (doubling(), False),
        (doubling(4), True),
        ({"pattern": "^[a-z]{1,40}$"}, True),
        ({"pattern": r"(a)\1"}, False),
        ({"pattern": "(?=a)"}, False),
        ({"pattern": "((a{99}){99}){99}"}, False),
        ({"format": "regex"}, False),
        ({"$schema": "https://json-schema.org/draft/2020-12/schema"}, True),
        ({"$schema": "http://127.0.0.1/mine"}, False),
        ({"$ref": "#anchor"}, False),
        ({"$ref": "#/%24defs/x"}, False),
        ({"unevaluatedItems": False}, False),
        ({"enum": [*range(30_000)]}, False),
    ],
)
def test_only_schemas_with_a_known_bound_count_as_linear(
    schema: dict[str, Any], *, is_linear: bool
) -> None:
    assert (schema_cost(schema) is not None) is is_linear


def test_a_weight_is_counted_no_further_than_it_matters() -> None:
    assert weight([[]] * 1_000_000, 1_000) > 1_000
    assert weight("x" * 3_200, 1_000) == 101
    assert weight({1: 2}, 1_000) > 1_000
    assert weight(deep(300), 1_000) > 1_000
    assert weight({"a": {"b": [1, 2]}}, 1_000) == 7


def test_the_job_of_a_worker_tells_more_and_more(monkeypatch: pytest.MonkeyPatch) -> None:
    limits: list[float] = []
    monkeypatch.setattr(jobs, "allow_seconds", limits.append)
    parts = list(jobs.find_problems(packed({"type": "array", "items": {"type": "string"}}), [1]))
    assert [json.loads(one)[0][0] for one in parts] == ["", "[0]", "[0]"]
    assert list(jobs.find_problems(packed({"type": "objekt"}), [1])) == [jobs.NO_SCHEMA]
    assert list(jobs.find_problems(packed({}), [1])) == [jobs.FITS]
    assert limits == [jobs.EXPLAIN_SECONDS]


def test_a_key_that_is_given_twice_is_found_and_other_faults_are_left_to_the_reader() -> None:
    assert b"duplicate key 'a'" in b"".join(jobs.find_fault(b'{"a": 1, "a": 2}'))
    assert list(jobs.find_fault(b'{"a": 1}')) == []
    assert list(jobs.find_fault(b"{")) == []


def test_a_message_holds_so_many_keys_and_values_and_no_more() -> None:
    assert jobs.find_excess({"items": [1] * 900_000}) is None
    assert jobs.find_excess([{"a": []}] * 330_000) is None
    assert "1,000,000" in (jobs.find_excess([[]] * jobs.MAX_VALUES) or "")
    assert "1,000,000" in (jobs.find_excess([{"a": [1]}] * 300_000) or "")
    assert "50,000" in (jobs.find_excess({"x": dict.fromkeys(map(str, range(50_001)))}) or "")
    assert b"1,000,000" in b"".join(jobs.find_fault(b"[" + b"[]," * 1_000_000 + b"[]]"))


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        # Each text takes many steps and fits, so no limit of the library ends the walk.
        ({"items": {"pattern": r"^((a|a|\b)*b|.*)$"}}, ["a" * 14] * 2_000),
        ({"items": {"pattern": "^((a|a|b*+)*b|.*)$"}}, ["a" * 14] * 2_000),
        ({"items": {"pattern": r"\s" * 600}}, []),
        ({"items": {"allOf": [{"multipleOf": 0.0001}] * 9}}, [1e308] * 5_000),
        ({"items": {"multipleOf": 1}}, [10**4_000] * 2_000),
    ],
    ids=["border of a word", "possessive", "classes", "fractions", "digits"],
)
def test_what_the_library_is_slow_at_is_not_done_at_once(schema: Any, value: Any) -> None:
    begun = time.process_time()

    BoundedChecker(schema).problems_now(value)

    assert time.process_time() - begun < 0.15
