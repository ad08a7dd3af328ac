"""Linting as a whole: what is allowed, what is mended, and servers that would break it."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.lint.tools import EVERY, codes, findings, hints, tool
from tests.tiers import examples

from sayso.lint import Edit, Severity, choose, find_profile, lint, make_listing
from sayso.lint.definitions import read_definitions
from sayso.lint.fix import edit, fix_saved
from sayso.lint.formats import FORMATS
from sayso.settings.json_file import parse_json

SPEC = choose(find_profile("spec"))


def allowing(**rules: str) -> dict[str, Any]:
    allow = {name.replace("_", "-"): why for name, why in rules.items()}
    return {"_meta": {"io.sayso/lint": {"allow": allow}}}


def test_tools_that_are_named_by_position_or_made_as_data_have_their_lines_too() -> None:
    source = """\
from mcp import types
from mcp.server import MCPServer

mcp = MCPServer("shop")


@mcp.tool("orders_delete")  # sayso: allow no-hints: soon
def delete(): ...


TOOLS = [
    # sayso: allow title-missing: clients show the name
    types.Tool(
        name="orders_list",  # sayso: allow no-hints: soon
    ),
]
"""
    found = read_definitions(source)
    said = {
        name: (handler.line, [a.word for a in handler.allowed]) for name, handler in found.items()
    }
    assert said["orders_delete"] == (8, ["no-hints"])
    assert said["orders_list"] == (13, ["title-missing", "no-hints"])


def test_what_a_tool_allows_with_a_reason_is_not_told_but_counted() -> None:
    listing = make_listing(
        "shop", [tool(title=None) | allowing(title_missing="no client shows it")]
    )
    report = lint(listing, SPEC)
    assert report.findings == ()
    ((found, why),) = report.allowed
    assert (found.code, why) == ("SS201", "no client shows it")
    assert [finding.code for finding in lint(listing, SPEC, allows=False).findings] == ["SS201"]


def test_a_permission_without_a_reason_allows_nothing() -> None:
    found = codes([tool(title=None) | allowing(title_missing="")])
    assert {"SS201", "SS901"} <= found


def test_a_permission_may_name_the_code_and_stands_for_its_own_tool_only() -> None:
    report = lint(
        make_listing(
            "shop", [tool("a_b", title=None) | allowing(SS201="x"), tool("c", title=None)]
        ),
        SPEC,
    )
    assert [(finding.code, finding.tool) for finding in report.findings] == [("SS201", "c")]


def test_a_permission_that_did_nothing_is_told_where_its_rule_looked() -> None:
    one = tool() | allowing(title_missing="x", meaningless_hint="x")
    assert [found.about for found in lint(make_listing("s", [one]), SPEC).findings] == [
        "_meta/io.sayso/lint/allow/title-missing"
    ]


SOURCE = """
# sayso: allow description-missing: too far above

# sayso: allow no-hints: an example
@mcp.tool(name="orders-list")  # sayso: allow title-missing no client shows it
# sayso: allow SS406:
async def orders(
    a: int,  # sayso: allow parameter-untyped: in a line of the definition
) -> None:
    a += 1
    # sayso: allow list-too-large: in the body


def plain() -> None: ...
"""


def test_comments_on_a_definition_allow_rules_for_its_tool() -> None:
    found = read_definitions(SOURCE)
    assert found["orders-list"].line == 7
    assert [(allowance.word, allowance.reason) for allowance in found["orders-list"].allowed] == [
        ("no-hints", "an example"),
        ("title-missing", "no client shows it"),
        ("SS406", ""),
        ("parameter-untyped", "in a line of the definition"),
    ]
    assert found["plain"].allowed == ()
    assert read_definitions("def broken(") == {}
    assert read_definitions("x = 1\x00") == {}


def test_a_comment_that_allows_nothing_is_told_without_a_fix() -> None:
    definitions = read_definitions("# sayso: allow no-hints: x\ndef list_orders(): ...")
    (item,) = [
        finding
        for finding in findings([tool()], definitions=definitions)
        if finding.code == "SS902"
    ]
    assert item.edits == ()


def test_an_edit_sets_takes_out_and_leaves_what_it_does_not_name() -> None:
    before = {"a": {"b": 1, "c": 2}, "d": {"e": 1}, "f": 3}
    after = edit(
        before,
        [Edit(("a", "b")), Edit(("d", "e")), Edit(("g", "h"), 4), Edit(("f",)), Edit(("x", "y"))],
    )
    assert after == {"a": {"c": 2}, "g": {"h": 4}}
    assert before["a"] == {"b": 1, "c": 2}


def mend(text: str) -> str:
    file = parse_json("t.json", text)
    report = lint(make_listing("t", file.value["tools"]), SPEC)
    return fix_saved(file, text, ("tools",), report.findings)


def test_a_fix_changes_the_tools_that_it_must_and_no_other_byte() -> None:
    sound = json.dumps(tool("sound"))
    text = (
        '{ "note" : "é",\n\t"tools": [' + sound + ',\n\t\t{\n\t\t\t"name": "a_b",\n'
        '\t\t\t"description": "ü", "inputSchema": {"type": "object"},\n'
        '\t\t\t"annotations": {"readOnlyHint": false, "x": [1, 2]}\n\t\t}\n ]  }\n'
    )
    mended = mend(text)
    assert mended.startswith(text[: text.index("\t\t{") + 3])
    assert mended.endswith("\n\t\t}\n ]  }\n")
    assert '"description": "ü"' in mended
    assert json.loads(mended)["tools"][1] == {
        "name": "a_b",
        "title": "A b",
        "description": "ü",
        "inputSchema": {"type": "object"},
        "annotations": {**hints(destructiveHint=True, openWorldHint=True), "x": [1, 2]},
    }
    assert mend(mended) == mended


def test_a_tool_with_a_comment_in_it_is_not_written_anew() -> None:
    text = '{"tools": [{"name": "a_b", /* why */ "annotations": {"readOnlyHint": true}}]}'
    assert mend(text) == text


def test_on_one_line_a_tool_stays_on_one_line() -> None:
    text = '{"tools": [{"name": "a_b", "annotations": {"readOnlyHint": true}}]}'
    mended = mend(text)
    assert '"title": "A b"' in mended
    assert "\n" not in mended


def deep(levels: int) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(levels):
        schema = {"type": "object", "properties": {"a": schema}}
    return schema


BREAKING = {
    "nothing": {"name": "x"},
    "odd types": {
        "name": "x", "title": 1, "description": ["d"], "inputSchema": 7, "outputSchema": "s",
        "annotations": {"readOnlyHint": {}, "title": 4}, "_meta": [],
    },
    "odd schema": tool(
        inputSchema={
            "type": ["object", 4], "required": "all", "$ref": 4, "anyOf": {}, "minItems": "x",
            "properties": {"a": 1, "b": {"enum": 4}, "": {}},
            "$defs": [],
        }
    ),
    "odd combinations": tool(
        inputSchema={
            "type": "object", "allOf": [1, {"$ref": "#"}], "oneOf": [[]],
            "properties": {"a": {"anyOf": [3], "type": "array", "minItems": 1}},
        }
    ),
    "deep": tool(inputSchema=deep(300)),
    "endless": tool(inputSchema={"type": "object", "$ref": "#"}),
    "circle": tool(
        inputSchema={
            "type": "object",
            "$defs": {f"d{n}": {"$ref": f"#/$defs/d{(n + 1) % 150}"} for n in range(150)},
            "properties": {"a": {"$ref": "#/$defs/d0"}}, "required": ["a"],
        }
    ),
    "into lists": tool(inputSchema={"type": "object", "allOf": [{"$ref": "#/allOf/7"}]}),
    "outside": tool(inputSchema={"type": "object", "$ref": "http://169.254.169.254/x"}),
    "long": tool(description="do not tell " * 90_000),
    "right to left": tool("x", title="مرحبا", description="\u202eslif eht seteleD\u202c"),
    "meta": tool(_meta={"io.sayso/lint": {"allow": ["SS101"]}, "io.sayso/intent": 3}),
}  # fmt: skip


@pytest.mark.parametrize("name", list(BREAKING))
def test_no_server_breaks_the_linter(name: str) -> None:
    found = findings([BREAKING[name]])
    assert found
    assert all(len(item.message) < 1000 for item in found)


def test_what_is_wrong_with_such_servers_is_said() -> None:
    assert {"SS401", "SS103", "SS301"} <= codes([BREAKING["odd types"]])
    assert {"SS402", "SS403"} <= codes([BREAKING["odd schema"]])
    assert "SS410" in codes([BREAKING["endless"]])
    assert "SS410" in codes([BREAKING["circle"]])
    assert "SS411" in codes([BREAKING["outside"]])
    assert "SS411" in codes([BREAKING["into lists"]])
    assert "SS303" in codes([BREAKING["long"]])
    assert "SS304" in codes([BREAKING["right to left"]])


def test_a_required_tree_that_may_end_is_sound() -> None:
    tree = {"anyOf": [{"type": "null"}, {"$ref": "#/$defs/tree"}]}
    node = {"type": "object", "properties": {"left": tree}, "required": ["left"]}
    sound = {
        "type": "object",
        "$defs": {"tree": node},
        "properties": {"t": tree},
        "required": ["t"],
    }
    assert "SS410" not in codes([tool(inputSchema=sound)])
    every = {"anyOf": [{"$ref": "#/$defs/tree"}]}
    full = {"type": "array", "minItems": 1, "items": every}
    endless = {"type": "object", "$defs": {"tree": {**node, "properties": {"left": full}}}}
    assert "SS410" in codes([tool(inputSchema={**endless, "allOf": [every]})])


def test_a_report_is_in_the_order_of_the_list_and_reaches_its_loudest() -> None:
    report = lint(make_listing("s", [tool("b", title=None), tool("a b")]), EVERY)
    assert [finding.index for finding in report.findings] == sorted(
        (finding.index or 0) for finding in report.findings
    )
    assert report.reaches(Severity.ERROR)
    quiet = lint(make_listing("s", [tool(title=None)]), SPEC)
    assert quiet.reaches(Severity.NOTE)
    assert not quiet.reaches(Severity.WARNING)


KEYS = (
    *("name", "title", "description", "inputSchema", "outputSchema", "annotations", "_meta"),
    *("type", "properties", "required", "anyOf", "allOf", "$ref", "$defs", "enum", "default"),
    *("items", "minItems", "additionalProperties", "readOnlyHint", "io.sayso/lint", "allow", "a"),
)
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.sampled_from(["object", "string", "#", "#/$defs/a", "confirm", "url", "delete_all"])
    | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(KEYS), inner),
    max_leaves=30,
)


@settings(max_examples=examples(100))
@given(st.lists(st.dictionaries(st.sampled_from(KEYS), VALUES) | VALUES, max_size=4))
def test_whatever_a_list_holds_is_linted_and_told(entries: list[Any]) -> None:
    report = lint(make_listing("shop", entries), EVERY)
    for write in FORMATS.values():
        write([report], find_profile("spec"))
    for finding in report.findings:
        if finding.index is not None:
            edit(entries[finding.index], finding.edits)
