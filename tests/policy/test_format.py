"""The published JSON Schema: current, and of one mind with what is checked."""

import json
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.tiers import examples

from sayso.policy import json_schema
from sayso.policy.cases import CASES
from sayso.policy.format import POLICY
from sayso.settings.shape import Shape
from sayso.settings.toml_positions import Path as TomlPath

PUBLISHED = Path(__file__).resolve().parents[2] / "docs" / "policy.schema.json"


def faults(shape: Shape, value: object) -> list[str]:
    found: list[str] = []

    def report(_path: TomlPath, what: str, _fix: str | None) -> None:
        found.append(what)

    shape.check(value, (), report)
    return found


def test_the_published_schema_is_current() -> None:
    # `make schema` writes it.
    assert json.loads(PUBLISHED.read_text()) == json_schema()


def test_the_schema_is_one() -> None:
    jsonschema_rs.validator_for(json_schema())
    jsonschema_rs.validator_for(CASES.schema())


def values(schema: dict[str, Any]) -> st.SearchStrategy[Any]:
    """What fits a part of the schema, or nearly."""
    odd = st.sampled_from([1, True, "", "x", "30m", 0.7, [], {}, ["a"], {"zz": 1}, [3]])
    if "anyOf" in schema:
        return st.one_of(odd, *map(values, schema["anyOf"]))
    if "enum" in schema:
        return st.one_of(st.sampled_from(schema["enum"]), odd)
    if "properties" in schema:
        parts = {key: values(one) for key, one in schema["properties"].items()}
        return st.one_of(odd, st.fixed_dictionaries({}, optional=parts))
    if schema.get("type") == "object":
        inner = values(schema["additionalProperties"])
        return st.one_of(odd, st.dictionaries(st.sampled_from("ab*"), inner, max_size=2))
    if schema.get("type") == "array":
        return st.one_of(odd, st.lists(values(schema["items"]), max_size=2))
    return st.one_of(odd, st.booleans(), st.integers(-2, 2_000_000), st.text(max_size=3))


VALIDATOR = jsonschema_rs.validator_for(json_schema())


@settings(max_examples=examples(300))
@given(values(json_schema()))
def test_what_the_schema_refuses_is_refused_and_what_it_takes_is_taken(value: object) -> None:
    assert VALIDATOR.is_valid(value) is (faults(POLICY, value) == [])


@pytest.mark.parametrize(("key", "value"), [("equals", None), ("range", {"min": float("inf")})])
def test_what_toml_cannot_say_is_refused_too(key: str, value: object) -> None:
    rule = {"name": "r", "effect": "deny", "when": {"arguments": {"a": {key: value}}}}
    assert len(faults(POLICY, {"rules": [rule]})) == 1
