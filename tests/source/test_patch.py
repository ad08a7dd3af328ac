"""Annotations in a source: real servers list the same tools before and after, and hints more."""

import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.source.serving import served

from sayso.errors import ConfigError, UsageError
from sayso.extras import install_command
from sayso.intent import HINT_NAMES, WIRE_NAMES, HintName
from sayso.source import Patch, annotate_source
from sayso.source.patch import check_change

READS: Mapping[HintName, bool] = {"read_only": True}
DESTROYS: Mapping[HintName, bool] = {
    "read_only": False,
    "destructive": True,
    "idempotent": True,
    "open_world": False,
}

OFFICIAL = '''\
# Notes, and what is done with them: é
"""A server."""

from mcp.server import MCPServer
from pydantic import Field  # kept

server = MCPServer("notes", log_level="ERROR")


@server.tool()
def note_get(number: int = Field(ge=1)) -> str:
    """Get a note."""
    return "é"  ;  x = 1


@server.tool(title="Wipe é")  # why
def note_wipe(number: int) -> str:
    return ""


@server.tool(
    name="note_list",
    title="All",  # of them
    # the last
)
def listed() -> str:
    return ""


@server.tool(
    title="Notes"  # without a comma
)
def note_find() -> str:
    return ""


@server.tool(
    "note_look", title="Look")
def look() -> str:
    return ""


@server.tool(title="One",
             description="Two")
def note_peek() -> str:
    return ""


def added() -> str:
    return ""


class Box:
    @staticmethod
    def held() -> str:
        return ""


server.add_tool(added, name="note_add")
server.tool(name="note_hold")(Box.held)
'''

FAST = """\
from fastmcp import FastMCP

server: FastMCP = FastMCP("notes")


@server.tool
def note_get(number: int) -> str:
    return ""


@server.tool("note_wipe", annotations={"title": "Wipe", "readOnlyHint": False})
def wipe(number: int) -> str:
    return ""


@server.tool(annotations={})
def note_list() -> str:
    return ""


@server.tool(annotations=None)
def note_find() -> str:
    return ""
"""

LOW = """\
import mcp_types as types
from mcp.server.lowlevel import Server

TOOLS = [
    types.Tool(name="note_get", input_schema={"type": "object"}),
    types.Tool(
        name="note_wipe",
        input_schema={"type": "object"},
        annotations=types.ToolAnnotations(title="Wipe", read_only_hint=False),
    ),
]


async def list_tools(context, params):
    return types.ListToolsResult(tools=TOOLS)


async def call_tool(context, params):
    raise ValueError


server = Server("notes", on_list_tools=list_tools, on_call_tool=call_tool)
"""

TABBED = """\
import typing
from mcp_types import CallToolResult, ToolAnnotations as Hints
from mcp.server.mcpserver import MCPServer

def make():
\tserver = MCPServer("notes", log_level="ERROR")
\t@server.tool()
\tdef note_get_with_a_name_that_is_so_long_that_it_takes_up_a_line() -> str:
\t\treturn ""
\treturn server

server = make()
"""

SOURCES = {"official": OFFICIAL, "fastmcp": FAST, "lowlevel": LOW, "tabs": TABBED}


def all_wanted(tools: list[dict[str, Any]]) -> dict[str, Mapping[HintName, bool]]:
    """Two tools of three read, and each third destroys."""
    return {item["name"]: DESTROYS if at % 3 == 1 else READS for at, item in enumerate(tools)}


def patched(source: str, **wanted: Mapping[HintName, bool]) -> Patch:
    return annotate_source("server.py", source.encode(), wanted)


@pytest.mark.parametrize("kind", SOURCES)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
async def test_a_server_lists_the_same_tools_with_the_hints_that_it_lacked(
    kind: str, end: str
) -> None:
    source = SOURCES[kind].replace("\n", end)
    before = await served(source)
    wanted = all_wanted(before)

    patch = annotate_source("server.py", source.encode(), wanted)

    assert (patch.left, len(patch.added)) == ((), len(before))
    after = await served(patch.after)
    for old, new in zip(before, after, strict=True):
        said = old.get("annotations", {})
        hints = {WIRE_NAMES[name]: value for name, value in wanted[old["name"]].items()}
        assert new.pop("annotations") == hints | said
        old.pop("annotations", None)
        assert new == old
    assert not any("\n" in line for line in patch.after.decode().split(end)) or end == "\n"


@pytest.mark.parametrize("kind", SOURCES)
async def test_doing_it_again_finds_nothing_to_do(kind: str) -> None:
    wanted = all_wanted(await served(SOURCES[kind]))
    once = annotate_source("server.py", SOURCES[kind].encode(), wanted)

    again = annotate_source("server.py", once.after, wanted)

    assert (again.added, again.after, again.diff) == ((), once.after, [])


def test_lines_without_a_tool_stay_as_they_are() -> None:
    patch = patched(OFFICIAL, note_get=READS, note_list=READS)

    removed = [line for line in patch.diff if line.startswith("-")]
    added = [line for line in patch.diff if line.startswith("+")]
    assert removed == ["--- server.py", "-@server.tool()"]
    assert added == [
        "+++ server.py",
        "+from mcp.types import ToolAnnotations",
        "+@server.tool(annotations=ToolAnnotations(readOnlyHint=True))",
        "+    annotations=ToolAnnotations(readOnlyHint=True),",
    ]
    assert [(addition.name, addition.line, dict(addition.hints)) for addition in patch.added] == [
        ("note_get", 11, {"read_only": True}),
        ("note_list", 26, {"read_only": True}),
    ]


async def test_titles_are_written_where_there_is_none() -> None:
    for kind, source in SOURCES.items():
        before = await served(source)
        named = {entry["name"]: f"Ä {entry['name']}" for entry in before}

        patch = annotate_source("server.py", source.encode(), {}, titles=named)

        after = {entry["name"]: entry for entry in await served(patch.after)}
        added = {addition.name: addition.title for addition in patch.added}
        for entry in before:
            has_own = "title" in entry if kind != "fastmcp" else False
            has_own = has_own or "title" in entry.get("annotations", {})
            assert (entry["name"] in added) != has_own
            wanted = entry if has_own else entry | {"title": named[entry["name"]]}
            assert after[entry["name"]] == wanted


def test_a_title_and_hints_go_together_and_no_title_is_replaced() -> None:
    source = OFFICIAL.replace('@server.tool(title="Wipe é")', "@server.tool(title=None)")

    patch = annotate_source(
        "server.py",
        source.encode(),
        {"note_wipe": READS},
        titles={"note_wipe": 'Wipe "all"', "note_look": "Look again", "zzz": "Gone"},
    )

    assert '@server.tool(title="Wipe \\"all\\"", annotations=' in patch.after.decode()
    assert [addition.name for addition in patch.added] == ["note_wipe"]
    assert [rest.name for rest in patch.left] == ["zzz"]


def test_what_is_too_long_for_a_line_is_written_as_a_formatter_would() -> None:
    patch = patched(OFFICIAL, note_wipe=DESTROYS)

    assert """
@server.tool(
    title="Wipe é",
    annotations=ToolAnnotations(
        readOnlyHint=False,
        destructiveHint=True,
        idempotentHint=True,
        openWorldHint=False,
    ),
)  # why
def note_wipe""" in patch.after.decode()


def test_what_is_written_into_a_list_of_tools_has_its_indentation() -> None:
    source = """\
from mcp import types


async def tools():
    return [
        types.Tool(name="note_list", inputSchema={"type": "object", "required": ["number"]}),
        types.Tool(
            name="note_wipe",
        ),
    ]
"""

    patch = patched(source, note_list=READS, note_wipe=DESTROYS)

    assert (
        patch.after.decode().split("return ")[1]
        == """[
        types.Tool(
            name="note_list",
            inputSchema={"type": "object", "required": ["number"]},
            annotations=types.ToolAnnotations(readOnlyHint=True),
        ),
        types.Tool(
            name="note_wipe",
            annotations=types.ToolAnnotations(
                readOnlyHint=False,
                destructiveHint=True,
                idempotentHint=True,
                openWorldHint=False,
            ),
        ),
    ]
"""
    )


def test_an_empty_call_on_two_lines_gets_its_argument_between_them() -> None:
    source = OFFICIAL.replace("@server.tool()", "@server.tool(  # why\n)")

    found = patched(source, note_get=READS).after.decode()

    assert (
        """
@server.tool(  # why
    annotations=ToolAnnotations(readOnlyHint=True),
)
def note_get"""
        in found
    )


def test_long_entries_of_a_dictionary_are_written_on_lines_of_their_own() -> None:
    plain = FAST.replace("@server.tool\n", '@server.tool(annotations={"title": "A note"})\n', 1)

    found = patched(plain, note_get=DESTROYS).after.decode()

    assert (
        """
@server.tool(
    annotations={
        "title": "A note",
        "readOnlyHint": False,
        "destructiveHint": True,
        "idempotentHint": True,
        "openWorldHint": False,
    },
)
"""
        in found
    )


def test_fastmcp_needs_no_import_and_takes_what_the_file_has() -> None:
    assert (
        b'@server.tool(annotations={"readOnlyHint": True})' in patched(FAST, note_get=READS).after
    )

    word = FAST.replace("import FastMCP", "import FastMCP\nfrom mcp.types import ToolAnnotations")
    found = patched(word, note_get=READS).after
    assert b"@server.tool(annotations=ToolAnnotations(readOnlyHint=True))" in found


def test_the_import_comes_after_the_last_of_the_sdk_or_the_docstring() -> None:
    inner = "def make():\n    from mcp.server import MCPServer\n"
    inner += "    mcp = MCPServer('a')\n    @mcp.tool()\n    def a(): ...\n"

    assert patched(inner, a=READS).after.startswith(b"from mcp.types import ToolAnnotations\ndef")
    said = patched(f'"""Said."""\n{inner}', a=READS).after
    assert said.startswith(b'"""Said."""\nfrom mcp.types import ToolAnnotations\n')
    other = patched(f"import os\n{inner}", a=READS).after
    assert other.startswith(b"import os\nfrom mcp.types import ToolAnnotations\n")


DECLARED = """\
import sayso
from mcp.server import MCPServer
from mcp.types import ToolAnnotations, Tool

server = MCPServer("notes")
tools = sayso.bind(server)
HINTS = ToolAnnotations(readOnlyHint=True)
MORE = {"title": "x"}


@server.tool(annotations=ToolAnnotations(readOnlyHint=None, destructiveHint=False))
def word(): ...


"""


@pytest.mark.parametrize(
    ("definition", "why"),
    [
        ("@server.tool(annotations=HINTS)\ndef a(): ...", "defined elsewhere: HINTS"),
        ("@server.tool(**MORE)\ndef a(): ...", "uses * or ** arguments"),
        ("@server.tool(*['a'])\ndef a(): ...", "uses * or ** arguments"),
        (
            "@server.tool('a', None, None, HINTS)\ndef b(): ...",
            "annotations are a positional argument",
        ),
        (
            "@server.tool(annotations=ToolAnnotations(**MORE))\ndef a(): ...",
            "annotations use ** arguments",
        ),
        ("@server.tool(annotations={**MORE})\ndef a(): ...", "annotations use ** arguments"),
        ("@tools.tool(sayso.QUERY)\ndef a(): ...", "declared with sayso"),
        ("@server.tool()\n@sayso.declare(sayso.QUERY)\ndef a(): ...", "declared with sayso"),
        ("@server.tool()\ndef a(): ...\n@server.tool()\ndef a(): ...", "defined twice"),
        ("@server.tool(name=str(1))\ndef a(): ...", "no definition with this name"),
        (
            "import fastmcp\nfast = fastmcp.FastMCP('f')\ndef a(): ...\nfast.add_tool(a)",
            "accepts no annotations",
        ),
    ],
)
def test_what_cannot_be_written_is_left_with_the_reason(definition: str, why: str) -> None:
    source = f"{DECLARED}{definition}\n"

    patch = patched(source, a=READS)

    assert (patch.added, patch.after) == ((), source.encode())
    assert {rest.name for rest in patch.left} == {"a"}
    assert all(why in rest.why for rest in patch.left), patch.left


def test_an_authors_word_stays_even_one_that_says_nothing() -> None:
    patch = patched(DECLARED, word=DESTROYS)

    (added,) = patch.added
    assert dict(added.hints) == {"idempotent": True, "open_world": False}
    assert (
        b"""
@server.tool(
    annotations=ToolAnnotations(
        readOnlyHint=None,
        destructiveHint=False,
        idempotentHint=True,
        openWorldHint=False,
    ),
)
def word"""
        in patch.after
    )


def test_entries_of_a_dictionary_keep_their_layout_and_quotes() -> None:
    source = (
        "from fastmcp import FastMCP\nmcp = FastMCP('f')\n\n\n@mcp.tool(\n    annotations={\n"
        "        'title': 'A',\n        'openWorldHint': False,  # here\n    },\n)\ndef a(): ...\n"
    )

    found = patched(source, a=READS).after.decode()

    assert "        'openWorldHint': False,  # here\n        'readOnlyHint': True,\n    }," in found


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b"def a(:\n", "server.py:1: invalid Python"),
        (b"a = '\xff'\n", "unknown encoding"),
        (b"# coding: nonesuch\n", "unknown encoding"),
        (b"a = 1\0\n", "invalid Python"),
        (
            b"import mcp\nmcp = mcp.MCPServer()\n@mcp.tool()\ndef a(): ...\n\x0cdef b():\n\tpass\n",
            "cannot keep the layout byte for byte",
        ),
    ],
)
def test_a_file_that_cannot_be_read_or_kept_is_told(data: bytes, what: str) -> None:
    with pytest.raises(ConfigError, match=what):
        annotate_source("server.py", data, {"a": READS})


def test_other_encodings_and_marks_are_kept() -> None:
    latin = "# coding: latin-1\nfrom mcp.server import MCPServer\nmcp = MCPServer('é')\n"
    latin += "@mcp.tool(title='é')\ndef a(): ...\n"

    assert "é', annotations=".encode("latin-1") in (
        annotate_source("server.py", latin.encode("latin-1"), {"a": READS}).after
    )
    marked = annotate_source("server.py", b"\xef\xbb\xbf" + FAST.encode(), {"note_get": READS})
    assert marked.after.startswith(b"\xef\xbb\xbffrom fastmcp")


def test_a_change_of_anything_else_is_refused() -> None:
    before = OFFICIAL.encode()

    check_change("server.py", before, patched(OFFICIAL, note_get=DESTROYS).after)
    with pytest.raises(ConfigError, match="affect more than annotations"):
        check_change("server.py", before, before.replace(b"note_get", b"note_got"))


def test_without_libcst_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "libcst", None)
    monkeypatch.delitem(sys.modules, "sayso.source.edit", raising=False)

    with pytest.raises(UsageError, match=re.escape(install_command("patch"))):
        patched(OFFICIAL, note_get=READS)


def test_another_missing_module_is_told_as_what_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "typing_extensions", None)
    monkeypatch.delitem(sys.modules, "sayso.source.edit", raising=False)

    with pytest.raises(ModuleNotFoundError, match="typing_extensions"):
        patched(OFFICIAL, note_get=READS)


def source_of_git() -> str:
    import mcp_server_git.server as real

    return Path(real.__file__).read_text()


@pytest.mark.process
def test_a_real_server_that_says_all_is_left_alone() -> None:
    data = source_of_git().encode()
    wanted = {f"git_{item}": DESTROYS for item in ("status", "commit", "reset")}

    patch = annotate_source("server.py", data, wanted)

    assert patch.after == data
    assert {rest.name for rest in patch.left} == set(wanted)
    assert all("defined elsewhere" in rest.why for rest in patch.left)


async def test_a_real_server_without_hints_gets_all() -> None:
    text = source_of_git()
    bare = "\n".join(
        line for line in text.split("\n") if not line.startswith("        annotations=")
    )
    assert bare.count("\n") == text.count("\n") - 12
    made = "\n\nserver = create_server(None)\n"
    before = await served(bare + made)
    wanted = dict.fromkeys((entry["name"] for entry in before), DESTROYS)

    patch = annotate_source("server.py", bare.encode(), wanted)

    after = await served(patch.after + made.encode())
    hints = {WIRE_NAMES[name]: DESTROYS[name] for name in HINT_NAMES}
    assert after == [entry | {"annotations": hints} for entry in before]


def test_a_dictionary_that_ends_on_its_last_line_goes_on_doing_so() -> None:
    source = (
        "from fastmcp import FastMCP\nmcp = FastMCP('f')\n\n\n@mcp.tool(\n    annotations={\n"
        "        'title': 'A',\n        'openWorldHint': False},\n)\ndef a(): ...\n"
    )

    found = patched(source, a=READS).after.decode()

    assert "        'openWorldHint': False,\n        'readOnlyHint': True},\n)" in found


def test_a_title_that_is_too_long_for_a_line_stays_whole_on_its_own() -> None:
    title = "All that is known of one note, " * 5

    patch = annotate_source("server.py", FAST.encode(), {}, titles={"note_get": title})

    assert f'\n    title="{title}",\n)' in patch.after.decode()


def test_an_inner_title_stands_among_the_annotations() -> None:
    for source, name in (
        ("@mcp.tool(annotations=ToolAnnotations(openWorldHint=False))", "a"),
        ("@mcp.tool(annotations=ToolAnnotations(open_world_hint=False))", "a"),
        ('@mcp.tool(annotations={"openWorldHint": False})', "a"),
        ("@mcp.tool", "a"),
        ("@mcp.tool()", "a"),
    ):
        text = f"from fastmcp import FastMCP\nmcp = FastMCP('f')\n\n\n{source}\ndef {name}(): ...\n"

        patch = annotate_source("server.py", text.encode(), {}, inner_titles={name: 'Say "a"'})

        assert '"Say \\"a\\""' in patch.after.decode(), source
        assert [(addition.title, addition.inner_title) for addition in patch.added] == [
            (None, 'Say "a"')
        ]
        again = annotate_source("server.py", patch.after, {}, inner_titles={name: "Other"})
        assert again.added == ()
