"""Conditions on arguments: paths, values, and what happens where they cannot be told."""

from typing import Any

import pytest
from tests.policy.samples import call, rule, says

from sayso.policy.arguments import find_values, is_same

ARGUMENTS: dict[str, Any] = {
    "id": 7,
    "amount": 99.5,
    "text": "700",
    "flag": True,
    "nan": float("nan"),
    "customer": {"mail": "amy@studio.example", "tags": ["a", "b"]},
    "to": [{"mail": "a@studio.example"}, {"mail": "b@else.example"}],
    "none": None,
    "empty": [],
}


def matches(effect: str, path: str, wanted: str, *, part: str = "when") -> bool:
    condition = f'arguments = {{ "{path}" = {{ {wanted} }} }}'
    text = rule(effect, condition) if part == "when" else rule(effect, "", unless=condition)
    return says(text, call("read", arguments=ARGUMENTS)) == "r"


@pytest.mark.parametrize(
    ("path", "wanted", "is_match"),
    [
        ("id", "equals = 7", True),
        ("id", "equals = 8.0", False),
        ("flag", "equals = true", True),
        ("customer.tags", 'equals = ["a", "b"]', True),
        ("customer.tags.1", 'equals = "b"', True),
        ("customer.tags.2", "exists = true", False),
        ("customer.tags.x", "exists = true", False),
        ("customer.tags.99999999999", "exists = true", False),
        ("customer", "exists = true", True),
        ("customer.mail.x", "exists = true", False),
        ("nothing", "exists = false", True),
        ("id", "exists = false", False),
        ("none", "exists = true", True),
        ("customer.mail", 'glob = "*@studio.example"', True),
        ("customer.mail", 'glob = ["*@x", "amy@*"], exists = true', True),
        ("customer.mail", 'glob = "*@x"', False),
        ("amount", "range = { min = 99.5 }", True),
        ("amount", "range = { max = 99 }", False),
        ("id", "range = { min = 1, max = 9 }", True),
        ("id", "range = { min = 1 }, equals = 7", True),
        ("id", "range = { min = 8 }, equals = 7", False),
        ("nothing", "range = { min = 1 }", False),
        ("to.*.other", "exists = true", False),
    ],
)
def test_a_path_leads_to_a_value_and_the_value_is_looked_at(
    path: str, wanted: str, *, is_match: bool
) -> None:
    for effect in ("allow", "deny"):
        assert matches(effect, path, wanted) is is_match


@pytest.mark.parametrize(
    ("path", "wanted"),
    [
        ("text", "range = { min = 1000 }"),
        ("flag", "range = { min = 1000 }"),
        ("nan", "range = { min = 1000 }"),
        ("id", 'glob = "x*"'),
        ("id", "equals = 7.0"),
        ("id", 'equals = "7"'),
        ("flag", "equals = 1"),
        ("flag", 'equals = "true"'),
        ("none", 'equals = "x"'),
        ("customer.tags", 'equals = ["a", 2]'),
        ("text", 'range = { min = 1000 }, glob = "7*"'),
    ],
)
def test_a_value_of_another_type_is_read_the_careful_way(path: str, wanted: str) -> None:
    assert matches("deny", path, wanted)
    assert matches("confirm", path, wanted)
    assert not matches("allow", path, wanted)
    assert not matches("allow", path, wanted, part="unless")
    assert matches("deny", path, wanted, part="unless")


def test_of_several_values_any_tightens_and_only_all_loosen() -> None:
    ours, others = 'glob = "*@studio.example"', 'glob = "*@else.example"'
    assert matches("deny", "to.*.mail", ours)
    assert matches("deny", "to.*.mail", others)
    assert not matches("allow", "to.*.mail", ours)
    assert matches("allow", "to.*.mail", 'glob = "*.example"')
    assert matches("deny", "to.*.mail", ours, part="unless")
    assert not matches("deny", "to.*.mail", 'glob = "*.example"', part="unless")
    assert not matches("deny", "to.*.mail", 'glob = "x"')
    assert not matches("allow", "empty.*", "equals = 1")


def test_a_star_stands_for_the_values_of_an_object_too() -> None:
    assert find_values(ARGUMENTS, ("customer", "*")) == ["amy@studio.example", ["a", "b"]]
    assert find_values({"a": ({"b": 1},)}, ("a", "0", "b")) == [1]


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ({"a": [1, {"b": True}]}, {"a": [1, {"b": True}]}, True),
        ({"a": [1, {"b": True}]}, {"a": [1.0, {"b": True}]}, None),
        ({"a": [1, {"b": True}]}, {"a": [1.0, {"b": False}]}, False),
        ({"a": 1}, {"a": True}, None),
        (None, 1, None),
        ({"a": 1}, {"b": 1}, False),
        ([1], [1, 2], False),
        ([1], {"0": 1}, False),
    ],
)
def test_two_json_values_are_one_by_type_and_content(
    one: object, other: object, *, expected: bool | None
) -> None:
    assert is_same(one, other) is expected


def test_arguments_200_deep_are_looked_at_without_harm() -> None:
    deep: Any = 1
    for _ in range(5000):
        deep = {"a": deep}
    wanted = 'arguments = { a = { equals = { a = { a = 1 } } }, "a.a.a" = { exists = true } }'
    assert says(rule("deny", wanted), call("read", arguments=deep)) == "mode:guarded"


META: dict[str, Any] = {"acme.com/region": "eu", "acme.com/batch": {"size": 7}}


@pytest.mark.parametrize(
    ("wanted", "is_match"),
    [
        ('"acme.com/region" = { equals = "eu" }', True),
        ('"acme.com/region" = { glob = ["us", "e?"] }', True),
        ('"acme.com/region" = { equals = "us" }', False),
        ('"acme.com/batch" = { equals = { size = 7 } }', True),
        ('"acme.com/batch.size" = { exists = true }', False),
        ('"acme.com/other" = { exists = false }', True),
        ('"acme.com/region" = { equals = "eu" }, "acme.com/other" = { exists = true }', False),
    ],
)
def test_a_key_of_a_calls_meta_is_looked_at_whole(wanted: str, *, is_match: bool) -> None:
    told = call("read", meta=META)
    condition = f"meta = {{ {wanted} }}"
    for effect in ("allow", "deny"):
        assert (says(rule(effect, condition), told) == "r") is is_match
    assert (says(rule("deny", "", unless=condition), told) == "r") is not is_match


def test_a_value_in_meta_of_another_type_is_read_the_careful_way() -> None:
    told = call("read", meta=META)
    condition = 'meta = { "acme.com/region" = { range = { min = 1 } } }'
    assert says(rule("deny", condition), told) == "r"
    assert says(rule("allow", condition), told) == "mode:guarded"
