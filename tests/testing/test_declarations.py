from pathlib import Path

import pytest
from tests.testing.servers import GIT, KINDS, READ, bound, empty, hints, plain

import sayso
from sayso.errors import UsageError
from sayso.testing import assert_annotated, assert_level, assert_preset


@pytest.mark.parametrize("kind", KINDS)
def test_a_server_whose_tools_are_declared_with_sayso_is_annotated(kind: str) -> None:
    assert_annotated(bound(kind))


@pytest.mark.parametrize("kind", ["MCPServer", "FastMCP"])
def test_a_tool_that_declares_nothing_is_told_what_to_write(kind: str) -> None:
    server = empty(kind)

    def customer_delete(customer_id: int) -> str:
        """Delete a customer."""
        return str(customer_id)

    (server.tool() if kind == "MCPServer" else server.tool)(customer_delete)

    with pytest.raises(AssertionError) as caught:
        assert_annotated(server)
    text = str(caught.value)
    assert text.startswith("crm: 1 of 1 tools are not fully declared\n  customer_delete\n")
    for wire in ("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"):
        assert f"\n    {wire} is not declared\n" in text
    if kind == "MCPServer":  # FastMCP makes a title of the name
        assert "\n    it has no title\n" in text
        assert (
            'its name and texts say what it does, give it the annotations {"title": "Delete '
            'customer", "readOnlyHint": false, "destructiveHint": true, "idempotentHint": false, '
            '"openWorldHint": false} (with sayso.bind: sayso.DELETE)'
        ) in text


@pytest.mark.parametrize("kind", ["MCPServer", "FastMCP"])
def test_a_tool_that_a_bound_server_has_by_another_way_is_to_be_declared_too(kind: str) -> None:
    server = bound(kind)

    def note_purge() -> str:
        """Purge all notes."""
        return "done"

    (server.tool() if kind == "MCPServer" else server.tool)(note_purge)
    with pytest.raises(AssertionError) as caught:
        assert_annotated(server)
    assert "crm: 1 of 3 tools are not fully declared" in str(caught.value)
    assert 'declare it as sayso.DELETE, title="' in str(caught.value)
    with pytest.raises(AssertionError, match="readOnlyHint is not declared, expected false"):
        assert_preset(server, {"note_purge": sayso.DELETE})


@pytest.mark.parametrize("kind", ["MCPServer", "FastMCP"])
def test_a_tool_declared_where_the_framework_registers_it_is_annotated(kind: str) -> None:
    server = bound(kind)

    @sayso.declare(sayso.DELETE)
    def note_purge() -> str:
        """Purge all notes."""
        return "done"

    (server.tool() if kind == "MCPServer" else server.tool)(note_purge)
    assert_annotated(server)


def test_a_hint_that_is_no_boolean_is_told_as_such() -> None:
    server = plain({"name": "notes_list", "annotations": {**READ, "readOnlyHint": "true"}})

    with pytest.raises(AssertionError) as caught:
        assert_annotated(server)
    assert 'readOnlyHint must be true or false, not "true"' in str(caught.value)
    assert "readOnlyHint is not declared" not in str(caught.value)


def test_a_contradiction_is_a_finding() -> None:
    server = plain({"name": "notes_list", "annotations": {**READ, "destructiveHint": True}})

    with pytest.raises(AssertionError, match=r"\[read-only-destructive\]"):
        assert_annotated(server)


def test_two_tools_of_one_name_are_told() -> None:
    one = {"name": "notes_list", "annotations": READ}

    with pytest.raises(AssertionError, match="two tools are named 'notes_list'"):
        assert_annotated(plain(one, one))


def test_where_nothing_can_be_told_from_a_name_the_message_offers_presets() -> None:
    with pytest.raises(AssertionError, match=r"with a preset such as sayso\.READ_ONLY"):
        assert_annotated(plain({"name": "zzz"}))


@pytest.mark.parametrize("kind", KINDS)
def test_presets_hold_for_what_is_declared_as_such(kind: str) -> None:
    presets = {"customers_list": sayso.READ_ONLY, "customer_delete": sayso.DELETE}
    assert_preset(bound(kind), presets, exact=True)


def test_another_preset_is_told_with_each_hint_and_what_to_write() -> None:
    with pytest.raises(AssertionError) as caught:
        assert_preset(bound(), {"customer_delete": sayso.WRITE})
    assert str(caught.value) == (
        "crm: tools are not declared as expected\n"
        "  customer_delete\n"
        "    destructiveHint is declared true, expected false\n"
        "    idempotentHint is declared false, expected true\n"
        "    declare it as sayso.WRITE (now sayso.DELETE)"
    )


def test_a_hint_that_is_not_declared_is_no_preset_though_the_default_is_the_same() -> None:
    given = hints(title="Delete", read_only=False, idempotent=False, open_world=False)
    server = plain({"name": "customer_delete", "annotations": given})

    with pytest.raises(AssertionError, match="destructiveHint is not declared, expected true"):
        assert_preset(server, {"customer_delete": sayso.DELETE})


def test_what_else_an_intent_says_is_expected_too() -> None:
    server = bound()
    assert_preset(server, {"customer_delete": sayso.DELETE.but(scopes={"crm.write"})})

    with pytest.raises(AssertionError, match=r"scopes is crm\.write, expected crm\.admin"):
        assert_preset(server, {"customer_delete": sayso.DELETE.but(scopes={"crm.admin"})})


def test_the_name_of_no_tool_is_a_mistake_with_what_was_meant() -> None:
    with pytest.raises(UsageError) as caught:
        assert_preset(bound(), {"customer_delet": sayso.DELETE})
    assert str(caught.value) == ("crm: no tool 'customer_delet'. Did you mean 'customer_delete'?")
    with pytest.raises(UsageError, match="Its tools: customers_list, customer_delete"):
        assert_level(bound(), {"zzz": "read"})


def test_what_is_no_preset_is_a_mistake() -> None:
    with pytest.raises(UsageError, match="'DELETE' is not a preset"):
        assert_preset(bound(), {"customer_delete": "DELETE"})  # pyright: ignore[reportArgumentType]


def test_exact_wants_every_tool_named() -> None:
    with pytest.raises(AssertionError, match="customers_list: not named by the test"):
        assert_preset(bound(), {"customer_delete": sayso.DELETE}, exact=True)
    with pytest.raises(AssertionError, match="customer_delete: not named by the test"):
        assert_level(bound(), {"customers_list": "read"}, exact=True)


def test_levels_hold_for_what_is_declared() -> None:
    assert_level(
        bound(), {"customers_list": "read", "customer_delete": sayso.Level.DESTRUCTIVE}, exact=True
    )


def test_another_level_is_told_with_its_reasons() -> None:
    with pytest.raises(AssertionError) as caught:
        assert_level(plain({"name": "notes_list"}), {"notes_list": "read"})
    assert str(caught.value) == (
        "crm: tools are not of the expected level\n"
        "  notes_list: level destructive, expected read\n"
        "    readOnlyHint is false: not declared, so the specification's default applies\n"
        "    destructiveHint is true: "
        "not declared, so the specification's default applies\n"
        "    if it is read, declare it as sayso.READ_ONLY, or with its hints"
    )


def test_at_less_trust_names_and_texts_speak_too() -> None:
    server = plain(
        {"name": "customer_delete", "description": "Delete a customer.", "annotations": READ}
    )
    assert_level(server, {"customer_delete": "read"})

    with pytest.raises(AssertionError) as caught:
        assert_level(server, {"customer_delete": "read"}, trust="cautious")
    assert "inferred from its name and texts, though it declares" in str(caught.value)
    with pytest.raises(AssertionError, match="which does not count at this trust"):
        assert_level(plain({"name": "x", "annotations": READ}), {"x": "read"}, trust="untrusted")


def test_a_word_that_is_no_level_or_no_trust_is_a_mistake() -> None:
    with pytest.raises(UsageError, match=r"unknown level 'reed'\. Did you mean 'read'"):
        assert_level(bound(), {"customers_list": "reed"})
    with pytest.raises(UsageError, match="Choose read, write, destructive"):
        assert_level(bound(), {"customers_list": "zzz"})
    with pytest.raises(UsageError, match="unknown trust level 'blind'"):
        assert_level(bound(), {"customers_list": "read"}, trust="blind")


@pytest.mark.process
def test_a_server_of_others_is_looked_at_by_its_command() -> None:
    levels = {"git_status": "read", "git_commit": "write", "git_reset": "destructive"}
    assert_level(f"-- {GIT}", levels)
    with pytest.raises(AssertionError, match="it has no title"):
        assert_annotated([GIT])


@pytest.mark.process
def test_the_demo_is_looked_at_by_its_file(tmp_path: Path) -> None:
    file = tmp_path / "shop.py"
    file.write_text(
        "from sayso.demo.data import open_database\n"
        "from sayso.demo.server import build_server\n"
        "mcp = build_server(open_database().__enter__())\n"
    )
    assert_annotated(f"{file}:mcp")


def test_a_read_need_not_declare_the_hints_of_writes() -> None:
    given = {"title": "List notes", "readOnlyHint": True, "openWorldHint": False}
    assert_annotated(plain({"name": "notes_list", "annotations": given}))

    with pytest.raises(AssertionError, match="openWorldHint is not declared"):
        assert_annotated(
            plain({"name": "notes_list", "annotations": {"title": "List", "readOnlyHint": True}})
        )
