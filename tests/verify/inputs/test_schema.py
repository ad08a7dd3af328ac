import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from sayso.errors import UsageError
from sayso.extras import install_command
from sayso.verify.inputs import drawing
from sayso.verify.inputs.schema import make_checker, make_values

TREE = {
    "type": "object",
    "properties": {
        "value": {"type": "integer"},
        "kids": {"type": "array", "items": {"$ref": "#"}},
    },
    "required": ["value"],
}
DRAFT_7 = "http://json-schema.org/draft-07/schema#"

SCHEMAS: dict[str, Any] = {
    "anything": True,
    "empty": {},
    "several types": {"type": ["string", "null"], "minLength": 2},
    "const": {"const": {"a": 1}},
    "steps": {"type": "integer", "minimum": 3, "maximum": 30, "multipleOf": 3},
    "open bounds": {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
    "cents": {"type": "number", "multipleOf": 0.01, "minimum": 0},
    "huge": {"type": "integer", "minimum": 10**12},
    "long pattern": {"type": "string", "pattern": "^[a-z]+$", "minLength": 30, "maxLength": 32},
    "pattern within": {"type": "string", "pattern": "\\d{3}-\\w+"},
    "look ahead": {"type": "string", "pattern": "^(?!x)[a-z]{2,5}$"},
    "named group": {"type": "string", "pattern": "^(?<year>\\d{4})$"},
    "recursive": TREE,
    "all of": {
        "allOf": [
            {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]},
            {"properties": {"b": {"const": 1}}, "required": ["b"]},
        ]
    },
    "any of objects": {
        "type": "object",
        "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
        "anyOf": [{"required": ["a"]}, {"required": ["b"]}],
    },
    "exactly one": {
        "oneOf": [{"type": "integer", "multipleOf": 2}, {"type": "integer", "minimum": 5}]
    },
    "not": {"type": "integer", "not": {"minimum": 0}},
    "map": {"type": "object", "additionalProperties": {"type": "integer"}, "minProperties": 2},
    "patterns of names": {
        "type": "object",
        "patternProperties": {"^x-[a-z]+$": {"type": "boolean"}},
        "additionalProperties": False,
    },
    "names": {
        "type": "object",
        "propertyNames": {"enum": ["one", "two"]},
        "additionalProperties": {"type": "string"},
        "minProperties": 1,
    },
    "tuple": {
        "type": "array", "prefixItems": [{"type": "integer"}, {"type": "null"}], "minItems": 2,
    },
    "closed tuple": {
        "type": "array", "prefixItems": [{"type": "integer"}], "items": False, "minItems": 1,
    },
    "old tuple": {"type": "array", "items": [{"type": "integer"}], "minItems": 1},
    "old dialect": {
        "$schema": DRAFT_7,
        "definitions": {"n": {"type": "integer"}},
        "type": "object",
        "properties": {"n": {"$ref": "#/definitions/n"}},
        "required": ["n"],
        "dependencies": {"n": ["m"]},
    },
    "no item twice": {
        "type": "array", "items": {"enum": [1, 2, 3]}, "uniqueItems": True, "minItems": 3,
    },
    "contains": {"type": "array", "contains": {"const": 7}, "minItems": 1},
    "condition": {
        "type": "object",
        "properties": {"a": {"enum": [1, 2]}, "b": {"type": "string"}},
        "required": ["a"],
        "if": {"properties": {"a": {"const": 1}}},
        "then": {"required": ["b"]},
    },
    "dependent": {
        "type": "object",
        "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
        "required": ["a"],
        "dependentRequired": {"a": ["b"]},
    },
    "nullable": {"type": "string", "nullable": True},
    "few properties": {
        "type": "object", "properties": {name: {} for name in "abcdef"}, "maxProperties": 2,
    },
}  # fmt: skip
FORMATS = [
    "date", "date-time", "time", "duration", "email", "hostname", "ipv4", "ipv6", "uri", "uuid",
    "json-pointer", "regex", "uri-reference", "never-heard-of",
]  # fmt: skip


@pytest.mark.parametrize("name", SCHEMAS)
def test_values_are_made_and_each_fits_its_schema(name: str) -> None:
    checker = make_checker(SCHEMAS[name])

    values = make_values(SCHEMAS[name], seed=1, count=12)

    assert values
    assert all(checker.is_valid(one) for one in values)


@pytest.mark.parametrize("name", FORMATS)
def test_texts_of_a_format_are_made(name: str) -> None:
    values = make_values({"type": "string", "format": name}, seed=2, count=6)

    assert values
    assert all(isinstance(one, str) for one in values)


@pytest.mark.parametrize(
    "schema",
    [
        False,
        {"type": "integer", "minimum": 5, "maximum": 4},
        {"type": "array", "items": False, "minItems": 1},
        {"type": "object", "properties": {"n": {"$ref": "#"}}, "required": ["n"]},
        {"enum": [1], "type": "string"},
        {"type": "string", "minLength": 3, "maxLength": 2},
    ],
)
def test_what_nothing_fits_gives_nothing(schema: Any) -> None:
    assert make_values(schema, seed=1, count=5) == []


@pytest.mark.parametrize(
    "schema",
    [{"type": "strin"}, {"$ref": "#/nope"}, {"properties": 3}, {"pattern": "("}, {"minimum": "1"}],
)
def test_a_broken_schema_is_told_to_be_one_and_why(schema: Any) -> None:
    with pytest.raises(UsageError, match=r"^not a JSON Schema: .+"):
        make_values(schema, seed=1, count=5)


def test_a_recursive_schema_is_followed_for_a_bounded_depth() -> None:
    values = make_values(TREE, seed=5, count=30)

    assert any(one.get("kids") for one in values)
    assert max(len(json.dumps(one)) for one in values) < 50_000


def test_the_same_seed_gives_the_same_values_and_another_gives_others() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "string"}}}

    first = make_values(schema, seed=3, count=20)

    assert make_values(schema, seed=3, count=20) == first
    assert make_values(schema, seed=4, count=20) != first


@pytest.mark.process
def test_values_depend_neither_on_what_is_loaded_nor_leave_anything_in_the_folder(
    tmp_path: Path,
) -> None:
    program = (
        "import json, sys\n"
        "{first}\n"
        "from sayso.verify.inputs.schema import make_values\n"
        "schema = {{'type': 'array', 'items': {{'type': ['integer', 'number', 'string']}}}}\n"
        "print(json.dumps(make_values(schema, seed=9, count=40)))\n"
    )
    (tmp_path / "constants.py").write_text("A = [4711, 4712, 'a telling text', 47.11]\n")
    said = [
        subprocess.run(
            [sys.executable, "-c", program.format(first=first)],
            cwd=tmp_path,
            capture_output=True,
            check=True,
            text=True,
        ).stdout
        for first in ("", "sys.path.insert(0, '.'); import constants")
    ]

    assert said[0] == said[1]
    assert not (tmp_path / ".hypothesis").exists()


def test_without_hypothesis_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:

    def find_none(_: str) -> None:
        return None

    monkeypatch.setattr(drawing, "find_spec", find_none)

    with pytest.raises(UsageError, match=re.escape(install_command("verify"))):
        make_values({"type": "string"}, seed=1, count=1)


@pytest.mark.process
def test_the_inputs_are_loaded_without_hypothesis() -> None:
    program = "import sys, sayso.verify.inputs.plan; print('hypothesis' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)

    assert done.stdout.strip() == b"False"
