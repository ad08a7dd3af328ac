"""The statement: of a report, and read with nothing taken for granted."""

import copy
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.receipts.reports import DIGEST, LAYERS, PACKAGE, hint, report, statement
from tests.tiers import examples

from sayso import __version__
from sayso.errors import ReceiptError
from sayso.intent import LAYERS as KNOWN_LAYERS
from sayso.receipts import make_statement, read_statement
from sayso.receipts.statement import PREDICATE_TYPE, STATEMENT_TYPE
from sayso.sandbox.spec import CONTAINING
from sayso.verify.verdict import HintVerdict


def test_a_statement_is_about_the_package_by_its_digest() -> None:
    made = make_statement(report().to_dict(), datetime(2026, 5, 4, 3, 2, 1, tzinfo=UTC))
    assert made["_type"] == STATEMENT_TYPE
    assert made["subject"] == [{"name": "notes", "digest": {"sha256": DIGEST}}]
    assert made["predicateType"] == PREDICATE_TYPE
    predicate = made["predicate"]
    assert predicate["made"] == "2026-05-04T03:02:01Z"
    assert predicate["sayso"] == __version__
    assert (predicate["seed"], predicate["seconds"]) == (7, 1.5)
    (tool,) = predicate["tools"]
    assert tool["hints"]["read_only"] == {
        "verdict": "supported",
        "calls": 12,
        "inputs": ["path=file"],
        "observers": ["files"],
    }


def test_what_was_made_is_read_again() -> None:
    found = read_statement(statement(), where="r.json")
    assert found.package == PACKAGE
    assert found.layers == frozenset(LAYERS)
    assert found.server == {"name": "notes", "version": "1.0"}
    (tool,) = found.tools
    assert (tool.package, tool.where) == (DIGEST, "r.json")
    assert tool.hints["read_only"].calls == 12
    assert not tool.is_signed_by("anybody")


def test_neither_arguments_nor_evidence_nor_what_was_typed_are_published() -> None:
    found = hint("refuted", 3, reason="wrote /home/amy", arguments={"token": "hunter2"})
    made = make_statement(report(read_only=found).to_dict())
    assert "hunter2" not in str(made)
    assert "/home/amy" not in str(made)


def test_a_digest_may_be_told_with_its_name() -> None:
    told = report().to_dict()
    told["package"]["digest"] = {"sha256": DIGEST}
    assert read_statement(make_statement(told)).package == PACKAGE


def test_a_layer_that_was_not_active_is_not_named() -> None:
    told = report().to_dict()
    told["layers"].append({"name": "postgres", "active": False})
    assert "postgres" not in make_statement(told)["predicate"]["layers"]


def test_the_layers_that_contain_are_among_those_that_are_known() -> None:
    assert frozenset(KNOWN_LAYERS) >= CONTAINING


def test_without_a_digest_there_is_nothing_to_sign() -> None:
    told = report().to_dict()
    for package in ({}, {"name": "notes"}, {"digest": ""}):
        with pytest.raises(ReceiptError, match="names no package"):
            make_statement({**told, "package": package})


@pytest.mark.parametrize(
    "found",
    [
        hint("supported", 0),
        hint("maybe", 1),
        hint("supported", -1),
        hint("supported", calls=True),
    ],
)
def test_what_cannot_be_is_not_signed(found: HintVerdict) -> None:
    with pytest.raises(ReceiptError):
        make_statement(report(read_only=found).to_dict())


def test_a_report_with_an_unknown_hint_is_not_signed() -> None:
    with pytest.raises(ReceiptError, match="unknown hints"):
        make_statement(report(harmless=hint("supported", 3)).to_dict())


def test_fields_that_are_not_known_are_passed_over() -> None:
    value = statement()
    value["more"] = value["predicate"]["more"] = {"x": 1}
    value["predicate"]["tools"][0]["more"] = 7
    assert read_statement(value) == read_statement(statement())


Change = Callable[[dict[str, Any]], object]


def _tool(value: dict[str, Any]) -> dict[str, Any]:
    return value["predicate"]["tools"][0]


def _hint(value: dict[str, Any]) -> dict[str, Any]:
    return _tool(value)["hints"]["read_only"]


CHANGES: list[Change] = [
    lambda v: v.update(_type="https://in-toto.io/Statement/v0.1"),
    lambda v: v.update(predicateType="https://slsa.dev/provenance/v1"),
    lambda v: v.update(predicate=None),
    lambda v: v.update(subject=[]),
    lambda v: v["subject"].append(v["subject"][0]),
    lambda v: v["subject"][0].update(digest={"sha512": "ab" * 32}),
    lambda v: v["subject"][0].update(digest={"sha256": "AB" * 32}),
    lambda v: v["subject"][0].update(digest={"sha256": "ab" * 31}),
    lambda v: v["subject"][0].update(name=None),
    lambda v: v["subject"].__setitem__(0, "notes"),
    lambda v: v["predicate"].update(tools={}),
    lambda v: v["predicate"].update(tools=[7]),
    lambda v: v["predicate"].update(tools=[_tool(v)] * 2),
    lambda v: v["predicate"].update(tools=[_tool(v)] * 10_001),
    lambda v: v["predicate"].update(layers="root"),
    lambda v: v["predicate"].update(layers=[7]),
    lambda v: v["predicate"].update(layers=["ro ot"]),
    lambda v: v["predicate"].update(seed="7"),
    lambda v: v["predicate"].update(seconds=True),
    lambda v: v["predicate"].update(seconds=-1),
    lambda v: v["predicate"].update(seconds="1"),
    lambda v: v["predicate"].update(made=7),
    lambda v: v["predicate"].update(sayso="x" * 1001),
    lambda v: v["predicate"].update(server="notes"),
    lambda v: v["predicate"].update(package=[]),
    lambda v: _tool(v).update(name=""),
    lambda v: _tool(v).update(name=None),
    lambda v: _tool(v).update(fingerprint="x"),
    lambda v: _tool(v).update(fingerprint=None),
    lambda v: _tool(v).update(hints=None),
    lambda v: _tool(v)["hints"].update(read_only=True),
    lambda v: _tool(v)["hints"].update(readOnly=_hint(v)),
    lambda v: _hint(v).update(verdict="SUPPORTED"),
    lambda v: _hint(v).update(verdict=["supported"]),
    lambda v: _hint(v).pop("verdict"),
    lambda v: _hint(v).pop("calls"),
    lambda v: _hint(v).update(calls=0),
    lambda v: _hint(v).update(calls=-3),
    lambda v: _hint(v).update(calls=True),
    lambda v: _hint(v).update(calls=12.0),
    lambda v: _hint(v).update(calls="12"),
    lambda v: _hint(v).update(calls=10**10),
    lambda v: _hint(v).update(partial=0),
    lambda v: _hint(v).update(inputs="path=file"),
    lambda v: _hint(v).update(observers=[{}]),
    lambda v: _hint(v).update(inputs=["x"] * 1001),
]


@pytest.mark.parametrize("change", CHANGES, ids=map(str, range(len(CHANGES))))
def test_what_cannot_be_is_refused(change: Change) -> None:
    value = copy.deepcopy(statement())
    read_statement(value)
    change(value)
    with pytest.raises(ReceiptError):
        read_statement(value)


@pytest.mark.parametrize("value", [None, [], "x", 7])
def test_what_is_no_object_is_refused(value: object) -> None:
    with pytest.raises(ReceiptError):
        read_statement(value)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The way to each part of a value."""
    inner = value.items() if isinstance(value, dict) else enumerate(value)
    nested = [(key, one) for key, one in inner]
    return [path, *(way for key, one in nested for way in _ways(one, (*path, key)))]


def _ways(one: Any, path: tuple[Any, ...]) -> list[tuple[Any, ...]]:
    return places(one, path) if isinstance(one, dict | list) else [path]


PLACES = [one for one in places(statement()) if one]


@settings(max_examples=examples(300))
@given(st.sampled_from(PLACES), JSON)
def test_whatever_stands_anywhere_is_read_or_refused(path: tuple[Any, ...], part: Any) -> None:
    value: Any = statement()
    parent = value
    for step in path[:-1]:
        parent = parent[step]
    parent[path[-1]] = part
    try:
        found = read_statement(value)
    except ReceiptError:
        return
    hints = [one for tool in found.tools for one in tool.hints.values()]
    assert all(one.calls > 0 or one.verdict != "supported" for one in hints)
