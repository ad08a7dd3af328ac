"""A cut result does not say of itself that it is complete."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sayso
from sayso.guard.call import Resume
from sayso.guard.completeness import CompletenessError
from sayso.guard.schemas import cut_value, schemas_of, shaped
from sayso.schema import Checker, size

ITEMS = [{"id": number} for number in range(500)]
LIST: dict[str, Any] = {"type": "array", "items": {"type": "object"}}
FLAG: dict[str, Any] = {"type": "boolean"}
COUNT: dict[str, Any] = {"type": "integer"}
LEFT = "the items that are left out"
KEPT = "the items that are kept"


def an_object(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "additionalProperties": False}


def told(value: Any, schema: Any, limit: int = 400) -> Any:
    cut = cut_value(value, schemas_of(schema), limit)
    assert cut.is_cut
    assert cut.fits
    assert size(cut.value) <= limit
    if schema is not None:
        assert Checker(schema).is_valid(cut.value)
    return cut.value


def counted(value: Any, kept: int) -> Any:
    """Fill the numbers into what is expected."""
    if isinstance(value, dict):
        return {key: counted(one, kept) for key, one in value.items()}
    return {LEFT: len(ITEMS) - kept, KEPT: kept}.get(value, value) if value else value


FLAGS: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"truncated": False}, {"truncated": True}),
    ({"is_truncated": None}, {"is_truncated": True}),
    ({"meta": {"truncated": False}}, {"meta": {"truncated": True}}),
    ({"meta": {"page": {"hasNextPage": False}}}, {"meta": {"page": {"hasNextPage": True}}}),
    ({"incomplete_results": False}, {"incomplete_results": True}),
    ({"resultsTruncated": "false"}, {"resultsTruncated": "true"}),
    ({"has_more": False, "hasMoreItems": False}, {"has_more": True, "hasMoreItems": True}),
    ({"pageInfo": {"hasNextPage": False}}, {"pageInfo": {"hasNextPage": True}}),
    ({"pageable": {"isLast": True}, "last": True}, {"pageable": {"isLast": False}, "last": False}),
    ({"complete": True}, {"complete": False}),
    ({"isComplete": "True"}, {"isComplete": "false"}),
    ({"omitted": 0, "remaining_items": 0}, {"omitted": LEFT, "remaining_items": LEFT}),
    ({"more": 0}, {"more": LEFT}),
    ({"returned": 500, "total": 500}, {"returned": KEPT, "total": 500}),
    ({"next": {"href": "/3"}, "links": {"next": "/3"}}, {"next": None, "links": {"next": None}}),
    (
        {"meta": {"paging": {"cursors": {"after": "x"}}}},
        {"meta": {"paging": {"cursors": {"after": None}}}},
    ),
]


@pytest.mark.parametrize(("given_", "expected"), FLAGS, ids=[str(row[0]) for row in FLAGS])
@pytest.mark.parametrize("has_schema", [False, True], ids=["no schema", "schema"])
@pytest.mark.parametrize("is_nested", [False, True], ids=["at the top", "nested"])
def test_what_a_result_says_of_being_complete_is_corrected(
    given_: dict[str, Any],
    expected: dict[str, Any],
    has_schema: bool,  # noqa: FBT001 - rows of tables
    is_nested: bool,  # noqa: FBT001 - as above
) -> None:
    value: dict[str, Any] = {"rows": ITEMS, **given_}
    schema: Any = an_object(rows=LIST, **{key: {} for key in given_}) if has_schema else None
    if is_nested:
        value = {"data": value}
        schema = an_object(data=schema) if has_schema else None
    found = told(value, schema)
    inner = found["data"] if is_nested else found
    kept = len(inner["rows"])
    assert {key: one for key, one in inner.items() if key != "rows"} == counted(expected, kept)


@pytest.mark.parametrize(
    ("known", "expected"),
    [
        ({"truncated": FLAG}, {"truncated": True}),
        ({"meta": an_object(truncated=FLAG)}, {"meta": {"truncated": True}}),
        (
            {"meta": {"anyOf": [an_object(truncated=FLAG), {"type": "null"}]}},
            {"meta": {"truncated": True}},
        ),
        (
            {"meta": an_object(page=an_object(has_more=FLAG))},
            {"meta": {"page": {"has_more": True}}},
        ),
        ({"hasNextPage": FLAG, "cursor": {"type": "string"}}, {"hasNextPage": True}),
        ({"omitted": COUNT}, {"omitted": LEFT}),
        ({"more": {"type": "string"}, "partial": {"type": "array"}}, {}),
        ({"complete": FLAG, "total": COUNT}, {}),
        ({"customer": an_object(truncated=FLAG)}, {}),
    ],
)
def test_a_field_that_the_schema_knows_and_the_result_lacks_is_added(
    known: dict[str, Any], expected: dict[str, Any]
) -> None:
    found = told({"rows": ITEMS}, an_object(rows=LIST, **known))
    kept = len(found["rows"])
    assert {key: one for key, one in found.items() if key != "rows"} == counted(expected, kept)


def test_a_field_that_the_schema_does_not_know_is_not_added() -> None:
    assert told({"rows": ITEMS}, an_object(rows=LIST)).keys() == {"rows"}
    assert told({"rows": ITEMS}, None).keys() == {"rows"}


def test_what_is_about_something_else_stays() -> None:
    others = {
        "truncated": True,
        "total": 500,
        "count": 500,
        "remaining": 4_999,
        "last": 1,
        "user": {"truncated": False, "last": True},
        "hasNextPage": True,
    }
    found = told({"rows": ITEMS, **others}, None)
    assert {key: one for key, one in found.items() if key != "rows"} == others


def test_a_cut_text_is_told_of_and_the_list_around_it_still_goes_on() -> None:
    row = {"body": "x" * 5_000, "truncated": False}
    value = {"rows": [row], "has_more": False, "next_cursor": "b", "meta": {"truncated": False}}
    found = told(value, None)
    assert found["rows"][0]["truncated"] is True
    assert found["meta"] == {"truncated": True}
    assert (found["has_more"], found["next_cursor"]) == (False, "b")


def test_a_flag_that_cannot_say_so_is_taken_out() -> None:
    schema = an_object(rows=LIST, truncated={"const": False})
    assert told({"rows": ITEMS, "truncated": False}, schema).keys() == {"rows"}


CLAIMING = {**an_object(rows=LIST, truncated={"const": False}), "required": ["rows", "truncated"]}


def test_a_result_that_can_only_say_that_it_is_complete_is_not_cut() -> None:
    value = {"rows": ITEMS, "truncated": False}
    with pytest.raises(CompletenessError):
        cut_value(value, schemas_of(CLAIMING), 400)
    answer = {"content": [], "structuredContent": value}
    assert shaped(answer, schemas_of(CLAIMING), 400) == (answer, ())
    assert sayso.cut_lists(value, limit=400, schema=CLAIMING).value is value


def test_what_is_far_too_long_and_cannot_be_cut_is_withheld_and_says_why() -> None:
    value = {"rows": [{"id": "x" * 200}] * 6_000, "truncated": False}
    answer, _ = shaped({"content": [], "structuredContent": value}, schemas_of(CLAIMING), 400)
    assert answer["isError"] is True
    assert "the limit is 400" in answer["content"][0]["text"]


def test_a_list_that_goes_on_says_that_it_does() -> None:
    resume = Resume("rows", lambda items: f"after {len(items)}", "next_cursor")
    value = {"rows": ITEMS, "next_cursor": None, "has_more": False, "last": True}
    cut = cut_value(value, schemas_of(None), 400, resume)
    kept = len(cut.value["rows"])
    assert cut.value["next_cursor"] == f"after {kept}"
    assert (cut.value["has_more"], cut.value["last"]) == (True, False)


def test_the_cursor_goes_on_after_whole_items_though_a_text_in_one_was_cut() -> None:
    seen: list[Any] = []
    resume = Resume("rows", lambda items: seen.append(list(items)) or "after", "next_cursor")
    rows = [{"body": "x" * 5_000}, *ITEMS]
    cut = cut_value({"rows": rows, "next_cursor": None}, schemas_of(None), 400, resume)
    assert seen[-1] == rows[: len(cut.value["rows"])]


def test_more_texts_than_there_is_room_for_are_left_out_and_a_repeat_of_the_result_is_not() -> None:
    blocks = [{"type": "text", "text": f"{number} " + "x" * 90} for number in range(100)]
    answer, _ = shaped({"content": blocks}, schemas_of(None), 1_000)
    *texts, notice = answer["content"]
    assert sum(len(one["text"]) for one in texts) <= 1_000
    assert (
        notice["text"] == f"Showing the first {len(texts)} of 100 texts; the others are left out."
    )
    assert answer["_meta"]["truncated"] is True
    spaced = {"type": "text", "text": '{"a":' + " " * 2_000 + "1}"}
    whole = {"content": [spaced], "structuredContent": {"a": 1}}
    assert shaped(whole, schemas_of(None), 1_000)[0] is whole


def test_a_text_beside_a_short_structure_is_cut_and_so_is_an_embedded_one() -> None:
    resource = {"type": "resource", "resource": {"uri": "file:///a", "text": "y" * 5_000}}
    given_ = {
        "content": [{"type": "text", "text": "x" * 5_000}, resource],
        "structuredContent": {"a": 1},
    }
    answer, _ = shaped(given_, schemas_of(an_object(a=COUNT)), 1_000)
    first, second, *_ = answer["content"]
    assert "[cut: " in first["text"]
    assert "[cut: " in second["resource"]["text"]
    assert len(first["text"]) + len(second["resource"]["text"]) <= 1_000
    assert answer["structuredContent"] == {"a": 1}


NAMES = st.sampled_from(
    [
        "rows",
        "truncated",
        "has_more",
        "isLast",
        "complete",
        "omitted",
        "meta",
        "next",
        "text",
        "kind",
    ]
)


def object_schema(named: dict[str, Any], wanted: set[str], extra: bool) -> dict[str, Any]:  # noqa: FBT001 - drawn
    return {
        "type": "object",
        "properties": named,
        "required": sorted(set(named) & wanted),
        "additionalProperties": extra,
    }


def list_schema(item: dict[str, Any], least: int) -> dict[str, Any]:
    return {"type": "array", "items": item, "minItems": least}


def one_of(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    return {"anyOf": [one, other]}


def repeated(text: str, times: int, most: int) -> str:
    return (text * times)[:most]


SCALARS = st.sampled_from([{"type": kind} for kind in ("boolean", "integer", "string", "null")])
SCHEMAS = st.recursive(
    SCALARS | st.just({"type": "string", "maxLength": 400}) | st.just({"enum": ["a" * 300, "b"]}),
    lambda inner: (
        st.builds(
            object_schema,
            st.dictionaries(NAMES, inner, min_size=1, max_size=5),
            st.sets(NAMES),
            st.booleans(),
        )
        | st.builds(list_schema, inner, st.integers(0, 3))
        | st.builds(one_of, inner, inner)
    ),
    max_leaves=8,
)


def fitting(schema: dict[str, Any]) -> st.SearchStrategy[Any]:
    """Values of a schema, with long lists and long texts."""
    if "anyOf" in schema:
        return st.one_of(*map(fitting, schema["anyOf"]))
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    kind = schema["type"]
    if kind == "array":
        least = schema["minItems"]
        return st.lists(fitting(schema["items"]), min_size=least, max_size=12)
    if kind == "object":
        wanted = {key: fitting(schema["properties"][key]) for key in schema["required"]}
        others = {
            key: fitting(one) for key, one in schema["properties"].items() if key not in wanted
        }
        return st.fixed_dictionaries(wanted, optional=others)
    most = schema.get("maxLength", 2_000)
    return {
        "boolean": st.booleans(),
        "integer": st.integers(0, 9),
        "string": st.builds(repeated, st.text(max_size=9), st.integers(1, 300), st.just(most)),
        "null": st.none(),
    }[kind]


@given(st.data())
def test_a_cut_result_fits_its_schema_and_claims_nothing_false(
    data: st.DataObject,
) -> None:
    schema = data.draw(SCHEMAS)
    value = data.draw(fitting(schema))
    limit = data.draw(st.integers(150, 1_500))
    schemas = schemas_of(schema)
    assert schemas.stripper is not None
    value = schemas.stripper.strip(value)
    if not Checker(schema).is_valid(value):
        return
    try:
        cut = cut_value(value, schemas, limit)
    except CompletenessError:
        return
    assert Checker(schema).is_valid(cut.value)
    assert schemas.stripper.strip(cut.value) == cut.value
    assert cut.fits == (size(cut.value) <= limit)
    assert cut.is_cut == (cut.value != value)
    if cut.is_cut:
        assert cut.notice
    if cut.is_cut and isinstance(cut.value, dict):
        assert cut.value.get("truncated") is not False
        assert cut.value.get("complete") is not True
