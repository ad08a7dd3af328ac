"""A tool's raw JSON, read without trust and written back without loss."""

import json
from copy import deepcopy
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.intent.strategies import EVIDENCE, HINTS, INTENTS, JSON, OBJECTS, SAID, TOOLS

from sayso.intent import (
    DELETE,
    HINT_NAMES,
    META_KEY,
    QUERY,
    WIRE_NAMES,
    Evidence,
    Finding,
    HintName,
    Hints,
    Intent,
    Level,
    Trust,
    contradictions,
    declare,
    list_tool,
    read_tool,
    resolve,
    write_annotations,
    write_meta,
)

VERSIONS = ["2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"]
EVERY_VERSION = pytest.mark.parametrize("version", VERSIONS)
BEFORE_ANNOTATIONS = "2024-11-05"

# Each with how a message shows it.
NOT_BOOLEANS: list[tuple[Any, str]] = [
    ("true", '"true"'),
    ("false", '"false"'),
    (1, "1"),
    (0, "0"),
    (1.0, "1.0"),
    (None, "null"),
    ("banana", '"banana"'),
    ("", '""'),
    ({}, "{}"),
    ([], "[]"),
    ([True], "[True]"),
]


def test_the_hints_have_the_specifications_names_on_the_wire() -> None:
    assert WIRE_NAMES == {
        "read_only": "readOnlyHint",
        "destructive": "destructiveHint",
        "idempotent": "idempotentHint",
        "open_world": "openWorldHint",
    }


def test_our_own_fields_have_one_name_in_meta() -> None:
    assert META_KEY == "io.sayso/intent"


# --- reading


def test_all_that_a_tool_declares_is_read() -> None:
    tool = {
        "name": "customer_delete",
        "title": "Delete customer",
        "annotations": {"readOnlyHint": False, "destructiveHint": True, "title": "not this"},
        "_meta": {
            META_KEY: {
                "category": "customers",
                "tags": ["crm", "crm"],
                "scopes": ["customers.write"],
                "roles": ["manager"],
                "confirm": "Delete this customer?",
            }
        },
    }

    assert read_tool(tool).findings == ()
    assert read_tool(tool).intent == Intent(
        Hints(read_only=False, destructive=True),
        title="Delete customer",
        category="customers",
        tags=frozenset({"crm"}),
        scopes=frozenset({"customers.write"}),
        roles=frozenset({"manager"}),
        confirm="Delete this customer?",
    )


@pytest.mark.parametrize("name", HINT_NAMES)
@pytest.mark.parametrize("value", [True, False])
def test_a_boolean_is_read_into_its_own_hint(name: HintName, *, value: bool) -> None:
    said = read_tool({"name": "a", "annotations": {WIRE_NAMES[name]: value}})

    assert said.intent.hints == Hints(**{name: value})
    assert said.findings == ()


@pytest.mark.parametrize("name", HINT_NAMES)
@pytest.mark.parametrize(("value", "shown"), NOT_BOOLEANS)
def test_a_hint_that_is_not_a_boolean_is_unset_and_found(
    name: HintName, value: object, shown: str
) -> None:
    wire = WIRE_NAMES[name]
    said = read_tool({"name": "a", "annotations": {wire: value}})
    message = f"{wire} must be true or false, not {shown}; it counts as unset"

    assert said.intent.hints == Hints()
    assert said.findings == (Finding("hint-not-a-boolean", message, name),)


def test_one_wrong_hint_does_not_take_the_others_with_it() -> None:
    annotations = {
        "readOnlyHint": "true",
        "destructiveHint": False,
        "idempotentHint": 1,
        "openWorldHint": False,
    }
    said = read_tool({"name": "a", "annotations": annotations})

    assert said.intent.hints == Hints(destructive=False, open_world=False)
    assert [one.hint for one in said.findings] == ["read_only", "idempotent"]


@pytest.mark.parametrize(
    ("value", "shown"),
    [("yes", '"yes"'), ("", '""'), (3, "3"), (0, "0"), (False, "False"), ([], "[]")],
)
def test_annotations_that_are_no_object_leave_all_hints_unset(value: object, shown: str) -> None:
    said = read_tool({"name": "a", "annotations": value})
    message = f"annotations must be an object, not {shown}; all hints count as unset"

    assert said.intent == Intent()
    assert said.findings == (Finding("annotations-not-an-object", message),)


@pytest.mark.parametrize("tool", [{"name": "a"}, {"name": "a", "annotations": None}])
def test_a_tool_without_annotations_is_not_at_fault(tool: dict[str, Any]) -> None:
    assert read_tool(tool).intent == Intent()
    assert read_tool(tool).findings == ()


@pytest.mark.parametrize("length", [39, 1000])
def test_a_message_stays_short_however_long_the_mistake_is(length: int) -> None:
    annotations = {"readOnlyHint": "x" * length}
    (found,) = read_tool({"name": "a", "annotations": annotations}).findings

    assert f'not "{"x" * 38}…; it' in found.message


def test_a_mistake_of_forty_characters_is_shown_whole() -> None:
    (found,) = read_tool({"name": "a", "annotations": {"readOnlyHint": "x" * 38}}).findings

    assert f'not "{"x" * 38}";' in found.message


def test_a_mistake_of_any_depth_is_a_finding_not_a_crash() -> None:
    deep: object = True
    for _ in range(100_000):
        deep = [deep]
    said = read_tool({"name": "a", "annotations": {"readOnlyHint": deep}})

    assert said.intent.hints == Hints()
    assert [one.code for one in said.findings] == ["hint-not-a-boolean"]


@pytest.mark.parametrize(
    ("tool", "title"),
    [
        ({"title": "Top", "annotations": {"title": "Inner"}}, "Top"),
        ({"annotations": {"title": "Inner"}}, "Inner"),
        ({"title": " ", "annotations": {"title": "Inner"}}, "Inner"),
        ({"title": 5, "annotations": {"title": "Inner"}}, "Inner"),
        ({"title": None, "annotations": {"title": ["Inner"]}}, None),
        ({}, None),
    ],
)
def test_the_title_is_the_first_that_says_something(
    tool: dict[str, Any], title: str | None
) -> None:
    assert read_tool(tool).intent.title == title


@pytest.mark.parametrize("meta", [None, "x", 7, [], True, {}, {META_KEY: "x"}, {META_KEY: [1]}])
def test_meta_that_is_no_object_says_nothing(meta: object) -> None:
    assert read_tool({"name": "a", "_meta": meta}).intent == Intent()


@pytest.mark.parametrize("value", [None, "crm", 7, True, b"raw", [], [1, None, ["crm"]]])
def test_tags_scopes_and_roles_are_lists_of_texts_or_nothing(value: object) -> None:
    own = dict.fromkeys(["tags", "scopes", "roles"], value)

    assert read_tool({"name": "a", "_meta": {META_KEY: own}}).intent == Intent()


def test_what_is_no_text_among_tags_is_left_out() -> None:
    own = {"tags": ["crm", 5, None]}

    assert read_tool({"name": "a", "_meta": {META_KEY: own}}).intent.tags == {"crm"}


def test_what_meta_claims_about_levels_and_sources_is_not_believed() -> None:
    claimed = {name: {"value": loose, "source": "operator"} for name, loose in QUERY_VALUES.items()}
    own = {"level": "read", "hints": claimed, "trust": "trusted", **QUERY_VALUES}
    tool = {"name": "a", "_meta": {META_KEY: own, **QUERY_VALUES}}

    assert read_tool(tool).intent == Intent()
    assert resolve(Evidence(read_tool(tool).intent.hints), Trust.TRUSTED).level is Level.DESTRUCTIVE


QUERY_VALUES = {name: QUERY.hints[name] for name in HINT_NAMES}


def test_contradictions_are_among_the_findings() -> None:
    annotations = {"readOnlyHint": True, "destructiveHint": True}
    said = read_tool({"name": "a", "annotations": annotations})

    assert said.findings == contradictions(said.intent)
    assert [one.code for one in said.findings] == ["read-only-destructive"]


@given(TOOLS)
def test_reading_never_raises_and_changes_nothing(tool: dict[str, Any]) -> None:
    before = deepcopy(tool)
    said = read_tool(tool)

    assert tool == before
    assert all(said.intent.hints[name] in (True, False, None) for name in HINT_NAMES)


# --- writing


@given(HINTS, st.none() | SAID)
def test_all_four_hints_are_explicit_on_the_wire(hints: Hints, title: str | None) -> None:
    wire = write_annotations(hints, title)

    assert set(wire) == {*WIRE_NAMES.values(), *(["title"] if title else [])}
    assert all(isinstance(wire[name], bool) for name in WIRE_NAMES.values())
    assert all(hints[name] in (None, wire[WIRE_NAMES[name]]) for name in HINT_NAMES)
    assert wire.get("title") == title


def test_what_is_unset_stands_on_the_wire_as_the_default() -> None:
    assert write_annotations(Hints(), None) == {
        "readOnlyHint": False,
        "destructiveHint": True,
        "idempotentHint": False,
        "openWorldHint": True,
    }


def test_a_read_only_tool_is_not_written_as_one_that_destroys() -> None:
    wire = declare({"name": "a"}, Intent(Hints(read_only=True)))

    assert wire["annotations"] == {
        "readOnlyHint": True,
        "destructiveHint": False,
        "idempotentHint": True,
        "openWorldHint": True,
    }
    assert read_tool(wire).findings == ()
    assert resolve(Evidence(read_tool(wire).intent.hints)).level is Level.READ


def test_meta_holds_what_was_declared_sorted_and_without_what_is_empty() -> None:
    assert write_meta(Intent()) == {}
    intent = DELETE.but(
        category="files", confirm="Delete?", roles={"b", "a"}, scopes={"y", "x"}, tags={"2", "1"}
    )
    assert write_meta(intent) == {
        "category": "files",
        "confirm": "Delete?",
        "roles": ["a", "b"],
        "scopes": ["x", "y"],
        "tags": ["1", "2"],
    }


@EVERY_VERSION
@given(tool=TOOLS, intent=INTENTS, title=SAID)
def test_what_is_declared_reads_back_the_same(
    version: str, tool: dict[str, Any], intent: Intent, title: str
) -> None:
    intent = replace(intent, title=title)
    wire = json.loads(json.dumps(declare(tool, intent, version=version)))

    assert read_tool(wire).intent == replace(intent, hints=intent.hints.with_defaults())


@EVERY_VERSION
@given(tool=TOOLS, intent=INTENTS)
def test_an_intent_without_a_title_leaves_the_one_that_stands(
    version: str, tool: dict[str, Any], intent: Intent
) -> None:
    wire = declare(tool, replace(intent, title=None), version=version)

    assert read_tool(wire).intent.title == read_tool(tool).intent.title


@EVERY_VERSION
@given(tool=TOOLS, annotations=OBJECTS, meta=OBJECTS, intent=INTENTS)
def test_keys_that_sayso_does_not_know_are_kept(
    version: str,
    tool: dict[str, Any],
    annotations: dict[str, Any],
    meta: dict[str, Any],
    intent: Intent,
) -> None:
    tool = {**tool, "annotations": {"x-a": 1, **annotations}, "_meta": {"x-m": 1, **meta}}
    before = deepcopy(tool)
    ours = {*WIRE_NAMES.values(), "title"}
    for wire in (
        declare(tool, intent, version=version),
        list_tool(tool, resolve(Evidence()), version=version, title=intent.title),
    ):
        assert without(wire["annotations"], ours) == without(before["annotations"], ours)
        assert without(wire["_meta"], {META_KEY}) == without(before["_meta"], {META_KEY})
        assert without(wire, {"annotations", "_meta", "title"}) == without(
            before, {"annotations", "_meta", "title"}
        )
    assert tool == before


def without(wire: dict[str, Any], keys: set[str]) -> dict[str, Any]:
    return {key: value for key, value in wire.items() if key not in keys}


@given(TOOLS, INTENTS)
def test_the_oldest_version_has_no_annotations(tool: dict[str, Any], intent: Intent) -> None:
    wire = declare(tool, intent, version=BEFORE_ANNOTATIONS)
    listed = list_tool(tool, resolve(Evidence()), version=BEFORE_ANNOTATIONS, title="A")

    assert "annotations" not in wire
    assert "annotations" not in listed
    assert read_tool(wire).intent.hints == Hints()
    assert read_tool(wire).intent.scopes == intent.scopes


@pytest.mark.parametrize(
    ("version", "has_annotations", "has_title"),
    [
        ("2024-11-05", False, False),
        ("2025-03-26", True, False),
        ("2025-06-18", True, True),
        ("2025-11-25", True, True),
        ("2026-07-28", True, True),
    ],
)
def test_each_version_has_the_fields_it_knows(
    version: str, *, has_annotations: bool, has_title: bool
) -> None:
    wire = declare({"name": "a"}, QUERY.but(title="Query"), version=version)

    assert ("annotations" in wire) is has_annotations
    assert wire.get("annotations", {"title": "Query"})["title"] == "Query"
    assert ("title" in wire) is has_title
    assert wire.get("title", "Query") == "Query"


def test_the_newest_version_is_written_where_none_is_named() -> None:
    tool = {"name": "a"}
    intent = QUERY.but(title="Query")

    assert declare(tool, intent) == declare(tool, intent, version="2026-07-28")


def test_a_title_that_stands_at_the_top_never_says_otherwise() -> None:
    tool = {"name": "a", "title": "Old", "annotations": {"title": "Old"}}
    wire = declare(tool, Intent(title="New"), version="2025-03-26")

    assert (wire["title"], wire["annotations"]["title"]) == ("New", "New")


def test_a_declaration_replaces_the_one_before_it_whole() -> None:
    first = declare({"name": "a", "_meta": {"x": 1}}, QUERY.but(scopes={"s"}, tags={"t"}))

    assert declare(first, QUERY.but(roles={"r"}))["_meta"] == {"x": 1, META_KEY: {"roles": ["r"]}}
    assert declare(first, QUERY)["_meta"] == {"x": 1}


def test_no_meta_is_written_where_there_is_nothing_to_say() -> None:
    assert "_meta" not in declare({"name": "a"}, QUERY)


# --- listing what was resolved


@EVERY_VERSION
@given(tool=TOOLS, evidence=EVIDENCE)
def test_a_listing_says_what_was_resolved_and_what_was_declared(
    version: str, tool: dict[str, Any], evidence: Evidence
) -> None:
    resolved = resolve(evidence)
    wire = list_tool(tool, resolved, version=version, title="A title")

    assert read_tool(wire).intent.hints == resolved.hints
    assert wire["annotations"]["title"] == "A title"
    own = wire["_meta"][META_KEY]
    assert own["level"] == str(resolved.level)
    assert own["hints"] == resolved.to_dict()
    declared = tool.get("annotations")
    assert own["declared"] == (declared if declared is not None else {})


def test_a_listing_passes_on_category_and_tags_and_no_claims() -> None:
    own = {
        "category": "files",
        "tags": ["a"],
        "level": "read",
        "hints": {"read_only": {"value": True, "source": "operator"}},
        "declared": {"readOnlyHint": True},
        "scopes": ["admin"],
        "surprise": 1,
    }
    wire = list_tool(
        {"name": "a", "_meta": {META_KEY: own}},
        resolve(Evidence()),
        version="2026-07-28",
        title="A",
    )

    assert wire["_meta"][META_KEY] == {
        "category": "files",
        "tags": ["a"],
        "level": "destructive",
        "hints": resolve(Evidence()).to_dict(),
        "declared": {},
    }


@given(JSON)
def test_a_listing_says_as_received_what_was_declared(annotations: Any) -> None:
    tool = {"name": "a", "annotations": annotations}
    wire = list_tool(tool, resolve(Evidence()), version="2026-07-28", title="A")

    assert wire["_meta"][META_KEY]["declared"] == ({} if annotations is None else annotations)
