"""JSON in the log: ASCII for the databases, canonical for the MAC."""

import json
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.intent.strategies import JSON
from tests.sample_tools import DELETE, tool

from sayso.audit.chain import to_array
from sayso.audit.record import describe, joined, to_text
from sayso.schema import canonical


@given(JSON)
def test_what_is_written_is_ascii_and_reads_back(value: Any) -> None:
    written = to_text(value)
    assert written.isascii()
    assert json.loads(written) == value


def test_half_a_surrogate_pair_and_long_integers_are_written() -> None:
    assert json.loads(to_text({"\ud800": "é\ud800", "n": 10**30})) == {
        "\ud800": "é\ud800",
        "n": 10**30,
    }


def test_what_is_not_json_is_refused_as_ever() -> None:
    with pytest.raises(TypeError, match="not JSON serializable"):
        to_text({"a": MappingProxyType({})})


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"])) | st.integers(0, 2**53)))
def test_an_array_of_strings_and_integers_is_canonical(parts: list[str | int]) -> None:
    assert to_array(parts) == canonical(parts)


def test_two_objects_become_one() -> None:
    assert json.loads(joined('{"a":1}', '{"b":{}}')) == {"a": 1, "b": {}}


def test_a_tool_is_told_by_its_level_and_its_name() -> None:
    told = json.loads(describe(tool(annotations=DELETE)))
    assert (told["level"], told["tool"]) == ("destructive", tool(annotations=DELETE).name)
