from typing import Any

import pytest

from sayso.verify.inputs.role_rules import role_of
from sayso.verify.inputs.roles import Role, entity_of, is_reader

TEXT = {"type": "string"}
NUMBER = {"type": "integer"}


def told(name: str, schema: dict[str, Any], tool: str, about: str = "", *siblings: str) -> Any:
    properties = {one: {"type": "string"} for one in (name, *siblings)}
    whole = {
        "name": tool,
        "description": about,
        "inputSchema": {"type": "object", "properties": properties},
    }
    return role_of(name, schema, whole)


@pytest.mark.parametrize(
    ("name", "tool", "role"),
    [
        ("path", "read_file", Role.FILE),
        ("file_path", "delete_file", Role.FILE),
        ("path", "list_directory", Role.DIRECTORY),
        ("path", "create_directory", Role.NEW_DIRECTORY),
        ("destination", "move_file", Role.NEW_FILE),
        ("source", "move_file", Role.FILE),
        ("directory", "search_files", Role.DIRECTORY),
        ("repo_path", "git_status", Role.REPOSITORY),
        ("branch_name", "git_checkout", Role.BRANCH),
        ("branch_name", "git_create_branch", Role.NEW_BRANCH),
        ("revision", "git_show", Role.REF),
        ("table_name", "describe_table", Role.TABLE),
        ("column", "count_values", Role.COLUMN),
        ("sql", "run", Role.SQL),
        ("filepath", "read_data_from_excel", Role.WORKBOOK),
        ("filepath", "create_workbook", Role.NEW_WORKBOOK),
        ("sheet_name", "read_data_from_excel", Role.SHEET),
        ("cell_range", "format_range", Role.RANGE),
        ("start_cell", "write_data", Role.CELL),
        ("url", "fetch", Role.URL),
        ("host", "ping", Role.HOST),
        ("email", "invite", Role.EMAIL),
        ("due_date", "create_task", Role.DATE),
        ("timezone", "get_current_time", Role.ZONE),
        ("time", "convert_time", Role.TIME),
        ("language", "translate", Role.LANGUAGE),
        ("query", "search_notes", Role.QUERY),
        ("pattern", "grep", Role.REGEX),
        ("cursor", "list_items", Role.CURSOR),
        ("code", "run_python", Role.CODE),
        ("title", "create_note", Role.TITLE),
        ("content", "write_file", Role.CONTENT),
        ("password", "login", Role.SECRET),
    ],
)
def test_a_text_is_known_by_its_name_and_its_tool(name: str, tool: str, role: Role) -> None:
    assert told(name, TEXT, tool).role is role


@pytest.mark.parametrize(
    ("name", "role"),
    [
        ("limit", Role.LIMIT), ("per_page", Role.LIMIT), ("page", Role.PAGE),
        ("offset", Role.OFFSET), ("port", Role.PORT), ("latitude", Role.LATITUDE),
        ("depth", None),
    ],
)  # fmt: skip
def test_a_number_is_known_by_its_name(name: str, role: Role | None) -> None:
    assert told(name, NUMBER, "list_things").role is role


@pytest.mark.parametrize(
    ("name", "tool", "entity"),
    [
        ("customer_id", "get_customer", "customer"),
        ("customerId", "delete_order", "customer"),
        ("id", "delete_note", "note"),
        ("issue_number", "get_issue", "issue"),
        ("customer", "get_customer", "customer"),
    ],
)
def test_an_id_is_known_with_what_it_is_of(name: str, tool: str, entity: str) -> None:
    schema = NUMBER if name == "issue_number" else TEXT
    found = told(name, schema, tool)

    assert (found.role, found.entity) == (Role.ID, entity)


@pytest.mark.parametrize(
    ("schema", "role"),
    [
        ({"type": "string", "format": "uri"}, Role.URL),
        ({"type": "string", "format": "date-time"}, Role.TIME),
        ({"type": "string", "description": "The SQL statement"}, Role.SQL),
        ({"type": "string", "description": "A date as YYYY-MM-DD"}, Role.DATE),
        ({"type": "string", "description": "A JSON string with all fields"}, Role.JSON),
        (
            {"type": "array", "items": {"type": "string"}, "description": "Path to a file"},
            Role.FILE,
        ),
        ({"type": "boolean"}, None),
        ({"type": "string"}, None),
    ],
)
def test_what_the_name_leaves_open_the_schema_settles(schema: Any, role: Role | None) -> None:
    assert told("thing", schema, "do_it").role is role


def test_a_query_is_a_statement_where_its_tool_speaks_of_sql() -> None:
    assert (
        told("query", TEXT, "read_query", "Execute a SELECT query on the SQLite database").role
        is Role.SQL
    )


def test_a_repository_of_a_host_is_no_path() -> None:
    assert told("repo", TEXT, "get_commit", "Git commit", "owner").role is not Role.REPOSITORY


def test_a_tool_reads_where_its_verb_does() -> None:
    assert is_reader({"name": "list_notes"})
    assert not is_reader({"name": "note_delete"})


def test_what_a_name_is_about_is_its_last_noun() -> None:
    assert entity_of(["list", "customer"]) == "customer"
