"""What errors and prose teach of arguments, and what other tools took."""

from typing import Any

import pytest
from tests.sample_tools import tool

from sayso.verify.inputs.captured_values import CapturedValues
from sayso.verify.inputs.error_feedback import named_tools, read_feedback
from sayso.verify.inputs.hints import VerifyHints
from sayso.verify.inputs.plan import Plan
from sayso.verify.inputs.prose import named_values, said_of
from sayso.verify.inputs.repair import corrections
from sayso.verify.inputs.role_rules import role_of
from sayso.verify.inputs.roles import Role
from sayso.verify.inputs.world import World, make_world

TEXT: dict[str, Any] = {"type": "string"}
WHOLE: dict[str, Any] = {"type": "integer"}


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    return make_world(tmp_path_factory.mktemp("made") / "world")


def plan_of(
    world: World,
    properties: dict[str, Any],
    *required: str,
    name: str = "work",
    about: str = "",
    harvest: CapturedValues | None = None,
) -> Plan:
    schema = {"type": "object", "properties": properties, "required": [*required]}
    one = tool(name, inputSchema=schema, description=about)
    return Plan(one, world, harvest or CapturedValues(), VerifyHints(), seed=1, budget=12)


def second(plan: Plan, error: str, first: dict[str, Any]) -> dict[str, Any]:
    """The arguments after a first case that ended with an error."""
    case = next(plan)
    assert case.arguments == first
    plan.tell(case, is_success=False, text=error)
    return dict(next(plan).arguments)


@pytest.mark.process
def test_an_ending_that_an_error_names_leads_to_a_file_that_has_it(world: World) -> None:
    plan = plan_of(world, {"path": TEXT}, "path")
    error = "Path '/world/notes.txt' must point to a table (.csv, .tsv)."
    assert second(plan, error, {"path": "/world/notes.txt"}) == {"path": "/world/data.csv"}


def test_an_ending_that_a_server_adds_leads_to_a_file_that_has_it(world: World) -> None:
    plan = plan_of(world, {"path": TEXT}, "path")
    error = "/world/notes.txt.docx does not exist"
    assert second(plan, error, {"path": "/world/notes.txt"}) == {"path": "/world/letter.docx"}


def test_a_choice_that_an_error_offers_takes_the_place_of_what_it_refused(world: World) -> None:
    plan = plan_of(world, {"kind": TEXT}, "kind")
    error = "Invalid kind 'text'. Valid kinds: line, bar"
    assert second(plan, error, {"kind": "text"}) == {"kind": "line"}


def test_a_bound_that_an_error_names_is_kept(world: World) -> None:
    plan = plan_of(world, {"start": {"type": "integer", "default": 0}}, "start")
    assert second(plan, "start must be at least 3", {"start": 0}) == {"start": 3}


def test_what_an_error_says_is_lacking_is_given(world: World) -> None:
    plan = plan_of(world, {"repo": TEXT, "depth": WHOLE})
    assert second(plan, "Please specify a 'depth' first", {}) == {"depth": 1}


def test_what_an_error_says_to_pass_is_passed(world: World) -> None:
    plan = plan_of(world, {"path": TEXT, "overwrite": {"type": "boolean"}}, "path")
    error = "It already exists. Pass overwrite=true to replace it."
    given = {"path": "/world/notes.txt"}
    assert second(plan, error, given) == {**given, "overwrite": True}


def test_what_lacks_inside_of_an_object_is_put_there(world: World) -> None:
    rule = {
        "type": "object",
        "properties": {"kind": {"enum": ["list", "whole"]}, "minimum": WHOLE},
        "required": ["kind"],
    }
    plan = plan_of(world, {"rule": rule}, "rule")
    first = {"rule": {"kind": "list"}}
    assert second(plan, "whole needs a minimum", first) == {"rule": {"kind": "list", "minimum": 1}}


def test_an_error_that_says_nothing_of_the_arguments_changes_nothing(world: World) -> None:
    assert list(corrections({"a": 1}, "it broke", (), world)) == []
    assert list(corrections({"a": 1}, "", (), world)) == []


def test_a_part_of_a_value_that_an_error_quotes_is_swapped() -> None:
    feedback = read_feedback("Sheet 'Data' not found. Available sheets: 'Customers', 'Orders'.")
    assert feedback.swapped("Data!A1:B2") == ["Customers!A1:B2", "Orders!A1:B2"]


def test_tools_that_errors_name_are_found_and_words_are_not() -> None:
    errors = ["Not set. Use set_project first.", "read it"]
    assert named_tools(errors, ["set_project", "read", "set_project_path"]) == ["set_project"]


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("one of: a, b or c", ("a", "b", "c")),
        ("asc|desc", ("asc", "desc")),
        ("The unit, e.g. metric", ("metric",)),
        ("'local' or \"remote\"", ("local", "remote")),
        ("Don't use the user's name", ()),
        ("", ()),
    ],
)
def test_values_that_prose_names_are_taken(text: str, values: tuple[str, ...]) -> None:
    assert named_values(text) == values


def test_a_line_of_a_docstring_describes_its_parameter(world: World) -> None:
    about = "Draw.\n\nArgs:\n    shade: 'dark' or 'light'\n    shades: more\n"
    assert said_of(about, "shade") == "'dark' or 'light'"
    assert said_of(about, "missing") == ""
    plan = plan_of(world, {"shade": TEXT}, "shade", about=about)
    assert next(plan).arguments == {"shade": "dark"}


def test_what_other_tools_took_by_the_same_name_comes_first_if_it_is_there(world: World) -> None:
    harvest = CapturedValues()
    for name, value in (("a", "gone.txt"), ("b", "gone.txt"), ("c", "data.xlsx")):
        harvest.use(name, {"filePath": f"/world/{value}"})
    plan = plan_of(world, {"file_path": TEXT}, "file_path", harvest=harvest)
    assert next(plan).arguments == {"file_path": "/world/data.xlsx"}


def test_a_tool_of_git_takes_the_repository_and_files_in_it(world: World) -> None:
    plan = plan_of(
        world, {"path": TEXT, "paths": {"type": "array", "items": TEXT}}, "path", "paths",
        name="git_add",
    )  # fmt: skip
    assert next(plan).arguments == {"path": "/world/repo", "paths": ["README.md"]}


@pytest.mark.parametrize(
    ("said", "role"), [("as HH:MM", Role.CLOCK), ("as YYYY-MM-DD HH:MM", Role.TIME)]
)
def test_a_time_of_day_is_told_from_a_moment(said: str, role: Role) -> None:
    assert role_of("time", {"type": "string", "description": said}, {"name": "t"}).role is role


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        ("path: must be relative", "notes.txt"),
        ("/world/notes.txt escapes the vault", "notes.txt"),
        ("[Errno 20] Not a directory", "/world"),
    ],
)
def test_a_path_takes_the_form_and_the_kind_that_an_error_asks_for(
    world: World, error: str, expected: str
) -> None:
    plan = plan_of(world, {"path": TEXT}, "path")
    assert second(plan, error, {"path": "/world/notes.txt"}) == {"path": expected}


def test_a_folder_gives_way_to_a_file_where_a_file_is_wanted(world: World) -> None:
    plan = plan_of(world, {"folder": TEXT}, "folder")
    error = "IsADirectoryError: /world is a directory"
    assert second(plan, error, {"folder": "/world"}) == {"folder": "/world/notes.txt"}


def test_where_the_samples_tables_are_missing_a_query_needs_none(world: World) -> None:
    plan = plan_of(world, {"sql": TEXT}, "sql", name="run_query")
    first = {"sql": "SELECT * FROM customers"}
    assert second(plan, "no such table: customers", first) == {"sql": "SELECT 1"}


def test_tables_that_a_tool_listed_come_before_the_samples(world: World) -> None:
    listed = CapturedValues()
    listed.add("list_tables", {"content": [{"type": "text", "text": "parcels, routes"}]})
    query = plan_of(world, {"sql": TEXT}, "sql", name="run_query", harvest=listed)
    assert next(query).arguments == {"sql": "SELECT * FROM parcels"}
    describe = plan_of(world, {"table": TEXT}, "table", name="describe_table", harvest=listed)
    assert next(describe).arguments == {"table": "parcels"}


def test_kinds_that_only_the_description_enumerates_are_tried(world: World) -> None:
    about = "Create a new issue, todo, or diary entry for the project."
    plan = plan_of(world, {"item_type": TEXT}, "item_type", name="new_item", about=about)
    assert next(plan).arguments == {"item_type": "issue"}


def test_a_url_that_the_server_named_comes_after_a_refused_one(world: World) -> None:
    listed = CapturedValues()
    text = '[{"url": "file:///papers/a.pdf"}]'
    listed.add("list_papers", {"content": [{"type": "text", "text": text}]})
    plan = plan_of(world, {"url": TEXT}, "url", name="show_paper", harvest=listed)
    first = {"url": "http://127.0.0.1:8000/"}
    assert second(plan, "fetch failed", first) == {"url": "file:///papers/a.pdf"}


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        ("not a valid project (no package.json found)", "/world/app"),
        ("fatal: not a git repository", "/world/repo"),
    ],
)
def test_a_folder_that_lacks_a_file_gives_way_to_one_that_has_it(
    world: World, error: str, expected: str
) -> None:
    plan = plan_of(world, {"root": TEXT}, "root")
    assert second(plan, error, {"root": "/world"}) == {"root": expected}


def test_of_two_arguments_an_error_offers_the_one_is_given_that_can_be_known(world: World) -> None:
    plan = plan_of(world, {"terminal_id": TEXT, "command": TEXT}, name="work_terminal")
    error = "Either terminal_id or command must be provided"
    assert second(plan, error, {}) == {"command": "echo hello"}


def test_the_keys_of_an_error_in_json_are_no_values() -> None:
    feedback = read_feedback('{"error": "bad_kind", "message": "kind must be one of: line, bar"}')
    assert feedback.values == ("line", "bar")
