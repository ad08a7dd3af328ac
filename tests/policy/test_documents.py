"""docs/guides/policy.md: every example loads; the schema describes every key for the reference."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sayso.policy import json_schema, load_cases, load_policy

TEXT = (Path(__file__).resolve().parents[2] / "docs" / "guides" / "policy.md").read_text()
EXAMPLES = re.findall(r"```toml\n(.*?)```", TEXT, re.DOTALL)


@pytest.mark.parametrize("example", EXAMPLES)
def test_an_example_is_a_policy_that_loads(example: str) -> None:
    load_policy(example)


def test_the_cases_load() -> None:
    (cases,) = re.findall(r"```toml case\n(.*?)```", TEXT, re.DOTALL)
    assert len(load_cases(cases)) == 2


def undescribed(schema: dict[str, Any], path: str = "") -> Iterator[str]:
    """Return the keys without a description, which the reference would list without a word."""
    for key, inner in schema.get("properties", {}).items():
        if not inner.get("description"):
            yield f"{path}.{key}"
        yield from undescribed(inner, f"{path}.{key}")
    for inner in [
        *schema.get("anyOf", []),
        schema.get("items"),
        schema.get("additionalProperties"),
    ]:
        if isinstance(inner, dict):
            yield from undescribed(inner, path)


def test_every_key_is_described_for_the_reference() -> None:
    assert list(undescribed(json_schema())) == []
