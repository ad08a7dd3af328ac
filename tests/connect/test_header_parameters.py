"""The headers that repeat arguments; the SDK's functions are the oracle."""

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from mcp.shared import inbound

from sayso.connect.header_parameters import encode_header, header_mismatch, parameter_headers

NAMES = st.sampled_from(["a", "b", "c.d"])
TOKENS = st.sampled_from(["Region", "region", "Count", "b c", "", "é"]) | st.just(7)
TYPES = st.sampled_from(["string", "integer", "boolean", "number"]) | st.just(["string"])
LEAVES = st.fixed_dictionaries({}, optional={"type": TYPES, "x-mcp-header": TOKENS}) | st.booleans()
HUGE = 10**5000


def nested(schemas: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    named = st.dictionaries(NAMES, schemas, max_size=2)
    parts: dict[str, st.SearchStrategy[Any]] = {
        "properties": named,
        "$defs": named,
        "items": schemas,
        "anyOf": st.lists(schemas, max_size=2),
        "x-mcp-header": TOKENS,
        "default": schemas,
    }
    return st.fixed_dictionaries({}, optional=parts)


SCHEMAS = st.recursive(LEAVES, nested, max_leaves=6)
VALUES = (
    st.none()
    | st.booleans()
    | st.integers(-2, 42)
    | st.sampled_from([42.0, 1.5, float("inf"), HUGE, "42", "é", " x ", "=?base64?eA==?="])
)
ARGUMENTS = st.dictionaries(
    NAMES, VALUES | st.lists(VALUES, max_size=1) | st.dictionaries(NAMES, VALUES), max_size=3
)
TEXTS = st.sampled_from(
    ["42", "42.0", "42.5", "042", "4e1", "true", "é", "=?base64?w6k=?=", "=?base64?w6l=?="]
) | st.sampled_from(["=?base64?!?=", "=?base64?/w==?=", "=?base64?eA==?=", "", f"{'9' * 5000}"])
HEADERS = st.dictionaries(
    st.sampled_from(["Mcp-Param-Region", "mcp-param-region", "mcp-param-count", "other"]), TEXTS
)


def simple(kind: str = "integer") -> dict[str, Any]:
    return {"properties": {"a": {"type": kind, "x-mcp-header": "Region"}}}


@given(SCHEMAS, ARGUMENTS)
@example(simple(), {"a": HUGE})
def test_arguments_become_the_headers_of_the_sdk(schema: Any, arguments: dict[str, Any]) -> None:
    expected = inbound.mcp_param_headers(inbound.x_mcp_header_map(schema), arguments)

    assert parameter_headers(schema, arguments) == expected


@given(SCHEMAS, ARGUMENTS, HEADERS)
@example(simple(), {"a": 42.0}, {"mcp-param-region": "42.0"})
@example(simple(), {"a": 42}, {"mcp-param-region": "42.5"})
@example(simple(), {"a": True}, {"mcp-param-region": "1"})
@example(simple(), {"a": HUGE}, {"mcp-param-region": "1"})
@example(simple(), {"a": 1}, {"mcp-param-region": "9" * 5000})
@example(simple("string"), {"a": "é"}, {"mcp-param-region": "=?base64?w6k=?="})
@example(simple("string"), {"a": "é"}, {"mcp-param-region": "=?base64?w6l=?="})
@example(simple("string"), {"a": "é"}, {"mcp-param-region": "=?base64?/w==?="})
@example(simple("string"), {"a": "é"}, {"mcp-param-region": "é", "Mcp-Param-Region": "é"})
@example(simple("string"), {"a": ["é"]}, {"mcp-param-region": "é"})
@example(simple("string"), {"a": ["é"]}, {})
@example(simple("string"), {}, {"mcp-param-region": "é"})
@example(simple("string"), {"a": "é"}, {})
@example(simple("number"), {"a": 1}, {})
@example({"properties": {"a": {"properties": simple()["properties"]}}}, {"a": 1}, {})
def test_headers_are_judged_as_the_sdk_judges_them(
    schema: Any, arguments: dict[str, Any], headers: dict[str, str]
) -> None:
    expected = inbound.validate_mcp_param_headers(schema, arguments, headers)

    assert header_mismatch(schema, arguments, headers) == (expected and expected.message)


@given(st.text())
@example("=?base64?eA==?=")
@example("=?base64?")
@example(" x")
def test_a_header_is_encoded_as_the_sdk_does(text: str) -> None:
    assert encode_header(text) == inbound.encode_header_value(text)


@given(SCHEMAS, ARGUMENTS)
def test_the_headers_of_a_call_match_it(schema: Any, arguments: dict[str, Any]) -> None:
    headers = parameter_headers(schema, arguments)

    assert header_mismatch(schema, arguments, headers) is None


@pytest.mark.parametrize("schema", [None, [], True, "x"])
def test_a_schema_that_is_no_object_marks_nothing(schema: Any) -> None:
    assert parameter_headers(schema, {"a": 1}) == {}
