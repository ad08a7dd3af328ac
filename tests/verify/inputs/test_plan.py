from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.sample_tools import tool

from sayso.catalog import Tool
from sayso.verify.call import Case
from sayso.verify.inputs.captured_values import CapturedValues
from sayso.verify.inputs.hints import VerifyHints, load_hints
from sayso.verify.inputs.plan import REPEATS, Plan
from sayso.verify.inputs.world import World

WORLD = World(Path("world"))
TEXT = {"type": "string"}


def made(name: str, properties: dict[str, Any], *required: str, **more: Any) -> Tool:
    schema = {"type": "object", "properties": properties, "required": [*required], **more}
    return tool(name, inputSchema=schema)


def plan_of(
    one: Tool,
    budget: int = 40,
    harvest: CapturedValues | None = None,
    hints: VerifyHints | None = None,
    seed: int = 1,
) -> Plan:
    return Plan(
        one, WORLD, harvest or CapturedValues(), hints or VerifyHints(), seed=seed, budget=budget
    )


Works = Callable[[Mapping[str, Any]], bool]


def _always(_: Mapping[str, Any]) -> bool:
    return True


def run(plan: Plan, works: Works = _always) -> list[Case]:
    cases: list[Case] = []
    for case in plan:
        cases.append(case)
        plan.tell(case, is_success=bool(works(case.arguments)))
    return cases


def test_the_first_case_holds_what_is_needed_and_what_lies_in_the_world() -> None:
    one = made("read_file", {"path": TEXT, "head": {"type": "integer"}}, "path")

    first = next(plan_of(one))

    assert first.arguments == {"path": "/world/notes.txt"}
    assert first.classes == {"path=existing", "head=absent"}
    assert first.origin == "role"


def test_what_an_earlier_result_gave_comes_before_what_the_schema_proposes() -> None:
    harvest = CapturedValues()
    harvest.add("list_widgets", {"structuredContent": {"widgets": [{"id": "w-77"}]}})
    one = made("get_widget", {"widget_id": {"type": "string", "examples": ["w-1"]}}, "widget_id")

    assert next(plan_of(one, harvest=harvest)).arguments == {"widget_id": "w-77"}
    assert next(plan_of(one)).arguments == {"widget_id": "w-1"}


def test_the_values_of_a_schema_come_first_where_the_world_has_no_part() -> None:
    one = made("convert", {"unit": {"type": "string", "default": "km"}}, "unit")

    assert next(plan_of(one)).arguments == {"unit": "km"}


def test_each_value_of_an_enum_each_boolean_and_each_absence_has_a_case() -> None:
    one = made(
        "note_add",
        {"mode": {"enum": ["a", "b", "c"]}, "force": {"type": "boolean"}, "text": TEXT},
        "mode",
    )
    plan = plan_of(one)

    reached = frozenset[str]().union(*(case.classes for case in run(plan)))

    assert {f"mode={value}" for value in "abc"} <= reached
    assert {"force=true", "force=false", "force=absent", "text=absent", "text=empty"} <= reached
    assert plan.left == {}


def test_boundaries_of_numbers_and_lengths_have_cases() -> None:
    one = made(
        "scale",
        {
            "by": {"type": "integer", "minimum": 2, "maximum": 9},
            "tag": {"type": "string", "minLength": 2, "maxLength": 4},
            "ids": {"type": "array", "items": {"type": "integer"}, "maxItems": 2},
        },
        "by", "tag", "ids",
    )  # fmt: skip
    cases = run(plan_of(one))

    assert {2, 9} <= {case.arguments["by"] for case in cases}
    assert {2, 4} <= {len(case.arguments["tag"]) for case in cases}
    assert {0, 1, 2} <= {len(case.arguments["ids"]) for case in cases}


def test_each_branch_of_any_of_has_a_case() -> None:
    node = {"anyOf": [{"type": "string"}, {"type": "array", "items": TEXT}, {"type": "null"}]}
    cases = run(plan_of(made("tag", {"names": node}, "names")))

    kinds = {type(case.arguments["names"]) for case in cases}

    assert kinds == {str, list, type(None)}


def test_each_kind_of_a_path_has_a_case() -> None:
    cases = run(plan_of(made("read_file", {"path": TEXT}, "path")))

    reached = frozenset[str]().union(*(case.classes for case in cases))

    assert {
        f"path={kind}" for kind in ("existing", "directory", "new", "missing", "outside")
    } <= reached


def test_classes_inside_of_an_argument_are_reached_too() -> None:
    inner = {
        "type": "object",
        "properties": {"kind": {"enum": ["x", "y"]}, "deep": {"type": "boolean"}},
        "required": ["kind"],
    }
    cases = run(plan_of(made("apply", {"options": inner}, "options")))

    assert {"x", "y"} <= {case.arguments["options"]["kind"] for case in cases}
    assert {True, False} <= {case.arguments["options"].get("deep") for case in cases}


def test_the_other_arguments_stay_at_what_succeeded() -> None:
    one = made("get_widget", {"widget_id": TEXT, "mode": {"enum": ["a", "b"]}}, "widget_id")
    harvest = CapturedValues()
    harvest.add("list_widgets", {"structuredContent": {"widgets": [{"id": "w-1"}, {"id": "w-2"}]}})
    plan = plan_of(one, harvest=harvest)

    def works(arguments: Mapping[str, Any]) -> bool:
        return arguments["widget_id"] == "w-2"

    cases = run(plan, works)

    assert cases[0].arguments["widget_id"] == "w-1"
    assert {"widget_id": "w-2", "mode": "b"} in [case.arguments for case in cases]
    assert "mode=b" not in plan.left


def test_a_success_is_repeated_since_a_tool_may_lie_only_the_third_time() -> None:
    one = made("read_file", {"path": TEXT, "mode": {"enum": [*"abcdefghij"]}}, "path")

    cases = run(plan_of(one, budget=15))

    assert len(cases) <= 15
    assert sum(case.arguments == cases[0].arguments for case in cases) >= REPEATS + 1


def test_what_never_succeeds_is_tried_a_few_ways_and_not_repeated() -> None:
    one = made("read_file", {"path": TEXT}, "path")
    plan = plan_of(one, budget=20)

    def fails(_: Mapping[str, Any]) -> bool:
        return False

    cases = run(plan, fails)

    assert len({case.arguments["path"] for case in cases[:3]}) == 3
    assert set(plan.left.values()) == {"no call with this input succeeded"}


def test_a_budget_that_ends_says_which_classes_are_left() -> None:
    plan = plan_of(made("pick", {"mode": {"enum": [*range(30)]}}, "mode"), budget=10)

    cases = run(plan)

    assert len(cases) == 10
    assert plan.left["mode=29"] == "the call budget was used up"


def test_a_class_that_does_not_go_with_the_rest_says_so() -> None:
    one = made(
        "find",
        {"a": {"type": "boolean"}, "b": {"type": "boolean"}},
        "a",
        additionalProperties=False,
        maxProperties=1,
    )
    plan = plan_of(one)
    run(plan)

    assert plan.left["b=true"] == "the input schema rejects it together with the other arguments"


def test_a_schema_that_wants_one_of_several_arguments_still_has_a_first_case() -> None:
    one = made("find", {"a": TEXT, "b": TEXT}, anyOf=[{"required": ["a"]}, {"required": ["b"]}])
    plan = plan_of(one)

    assert plan.is_valid(next(plan).arguments)


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        (
            {"type": "object", "properties": 3},
            "the tool's input schema is invalid: not a JSON Schema",
        ),
        (
            {"type": "object", "required": ["a"], "properties": {"a": False}},
            "no valid arguments were",
        ),
    ],
)
def test_a_tool_that_no_case_can_be_made_for_says_why(schema: Any, said: str) -> None:
    plan = plan_of(tool("odd", inputSchema=schema))

    assert list(plan) == []
    assert plan.problem.startswith(said)


def test_a_tool_without_parameters_is_called_without_arguments() -> None:
    assert {str(case.arguments) for case in run(plan_of(tool("ping", inputSchema={})))} == {"{}"}


def test_what_a_person_has_given_is_tried_first_and_what_they_skip_is_not_called() -> None:
    hints = load_hints(
        '[verify.tools.get]\narguments = [{ key = "k-1" }, { key = 5 }]\n'
        '[verify.tools.pay]\nskip = "it costs"'
    )
    plan = plan_of(made("get", {"key": TEXT}, "key"), hints=hints)
    skipped = plan_of(made("pay", {"amount": TEXT}, "amount"), hints=hints)

    cases = run(plan)

    assert (cases[0].arguments, cases[0].origin) == ({"key": "k-1"}, "given")
    assert all(case.arguments["key"] != 5 for case in cases)
    assert list(skipped) == []
    assert skipped.problem == "it costs"


def test_the_same_seed_gives_the_same_cases() -> None:
    one = made("mix", {"n": {"type": "number"}, "text": TEXT, "more": {"type": "object"}}, "text")

    first = [case.arguments for case in run(plan_of(one, seed=7))]

    assert [case.arguments for case in run(plan_of(one, seed=7))] == first
    assert [case.arguments for case in run(plan_of(one, seed=8))] != first


def test_a_reader_of_sql_is_given_a_select_and_a_writer_its_own_verb() -> None:
    about = "Run SQL on the SQLite database"
    schema = {"type": "object", "properties": {"query": TEXT}, "required": ["query"]}

    firsts = [
        next(plan_of(tool(name, inputSchema=schema, description=about)))
        .arguments["query"]
        .split()[0]
        for name in ("read_query", "write_query", "delete_rows", "create_table")
    ]

    assert firsts == ["SELECT", "INSERT", "DELETE", "CREATE"]


def test_the_end_of_a_span_comes_after_its_start() -> None:
    node = {"type": "string", "format": "date"}
    one = made("report", {"start_date": node, "end_date": node}, "start_date", "end_date")

    first = next(plan_of(one)).arguments

    assert first["start_date"] < first["end_date"]


def test_a_file_beside_a_repository_is_one_of_its_own() -> None:
    one = made(
        "git_add",
        {"repo_path": TEXT, "files": {"type": "array", "items": TEXT}},
        "repo_path",
        "files",
    )

    assert next(plan_of(one)).arguments == {"repo_path": "/world/repo", "files": ["README.md"]}


def test_words_in_quotes_are_tried_where_no_enum_says_what_is_taken() -> None:
    node = {"type": "string", "description": "Either 'local' or 'remote' ones"}

    assert next(plan_of(made("show", {"scope": node}, "scope"))).arguments == {"scope": "local"}
