"""One kind of tool at the public face, whatever kind a caller has."""

from typing import Any

import pytest
from mcp.types import Tool as SdkTool
from mcp.types import ToolAnnotations

import sayso
from sayso.approvals import say_call
from sayso.catalog import as_tool
from sayso.errors import UsageError
from sayso.intent import Level
from sayso.lint import lint
from sayso.prompt import build

ENTRY: dict[str, Any] = {
    "name": "note_delete",
    "title": "Delete note",
    "description": "Delete a note.",
    "inputSchema": {"type": "object", "properties": {"note_id": {"type": "string"}}},
    "annotations": {"readOnlyHint": False, "destructiveHint": True},
}


def sdk() -> SdkTool:
    return SdkTool.model_validate(ENTRY)


def definition() -> sayso.ToolDefinition:
    return sayso.ToolDefinition(
        name="note_delete",
        description="Delete a note.",
        input_schema=ENTRY["inputSchema"],
        destructive_hint=True,
        title="Delete note",
    )


KINDS = [ENTRY, sdk(), definition(), as_tool(ENTRY, server="crm")]
each_kind = pytest.mark.parametrize("tool", KINDS, ids=["entry", "sdk", "definition", "catalog"])


@each_kind
def test_every_face_takes_every_kind_of_tool(tool: Any) -> None:
    known = as_tool(tool)
    selector = sayso.Selector([tool])
    registry = sayso.Registry([tool])

    assert known.level is Level.DESTRUCTIVE
    assert "note_delete" in build([tool]).text
    assert selector.select("delete the note").tools[0].level is Level.DESTRUCTIVE
    assert registry.search(destructive=True).tools[0].name == "note_delete"
    assert "Delete note" in say_call(tool, {"note_id": "n1"})
    assert lint([tool]).tools == 1


def test_a_tool_without_a_server_keeps_its_own_name() -> None:
    assert as_tool(ENTRY).qualified_name == "note_delete"
    assert as_tool(ENTRY, server="crm").qualified_name == "crm__note_delete"


def test_hints_are_read_raw() -> None:
    odd = {**ENTRY, "annotations": {"readOnlyHint": "true"}}

    assert as_tool(odd).level is Level.DESTRUCTIVE
    assert as_tool(odd).findings


def test_an_authors_own_definition_is_believed() -> None:
    said = sayso.ToolDefinition(
        name="purge_report", description="Compare and overwrite.", read_only_hint=True
    )
    assert as_tool(said).level is Level.READ
    assert as_tool(said.to_mcp_schema()).level is Level.DESTRUCTIVE


@pytest.mark.parametrize("odd", [None, 7, "note_delete", SdkTool, {}, {"name": ""}, object()])
def test_what_is_no_tool_is_refused(odd: Any) -> None:
    with pytest.raises(UsageError):
        as_tool(odd)


def test_a_registry_is_filled_one_by_one_and_a_second_of_a_name_takes_its_place() -> None:
    registry = sayso.Registry()
    read = {"name": "note_get", "annotations": {"readOnlyHint": True}}
    registry.add(ENTRY).add(read)
    registry.add({**ENTRY, "description": "Delete one note."})

    found = registry.search(limit=1)
    rest = registry.search(limit=1, cursor=found.next_cursor)

    assert (found.total, len(found.tools), rest.next_cursor) == (2, 1, None)
    assert [tool.name for tool in registry.search(text="note", read_only=True).tools] == [
        "note_get"
    ]
    assert registry.search(category="billing").total == 0


def test_annotations_of_the_sdk_are_an_intent() -> None:
    hints = sayso.Intent().but(annotations=ToolAnnotations.model_validate({"readOnlyHint": True}))
    assert hints.level is Level.READ


def test_what_writes_itself_as_a_tool_of_the_sdk_is_read_as_one() -> None:
    class Framework:
        def to_mcp_tool(self) -> SdkTool:
            return sdk()

    known = as_tool(Framework(), server="crm")
    assert (known.qualified_name, known.level) == ("crm__note_delete", Level.DESTRUCTIVE)
    assert known.fingerprint == as_tool(sdk(), server="crm").fingerprint
