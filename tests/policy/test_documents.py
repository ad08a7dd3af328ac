"""docs/guides/policy.md: every example loads, and every key is named."""

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


def keys(schema: dict[str, Any]) -> Iterator[str]:
    for key, inner in schema.get("properties", {}).items():
        yield key
        yield from keys(inner)
    for inner in [
        *schema.get("anyOf", []),
        schema.get("items"),
        schema.get("additionalProperties"),
    ]:
        if isinstance(inner, dict):
            yield from keys(inner)


def test_every_key_is_named() -> None:
    words = set(re.findall(r"\w+", TEXT))
    assert set(keys(json_schema())) - words == set()
