"""A definition as the specification's reader would write it."""

from typing import Any

import pytest
from mcp.types import ToolAnnotations

import sayso
from sayso.errors import UsageError

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
}


def define(**fields: Any) -> sayso.ToolDefinition:
    made: Any = sayso.ToolDefinition
    given = {"name": "weather_get", "description": "Weather.", "input_schema": SCHEMA, **fields}
    return made(**given)


def bare() -> str:
    return "bare"


def named(city: str, days: int = 1) -> str:
    return f"{city} {days}"


def whole(arguments: dict[str, Any]) -> str:
    return f"{arguments['city']} whole"


def only_context(ctx: Any) -> str:
    return f"{ctx} only"


def both(ctx: Any, arguments: dict[str, Any]) -> str:
    return f"{ctx} {arguments['city']}"


def named_context(city: str, *, context: Any) -> str:
    return f"{context} {city}"


def annotated(anything: "sayso.Context") -> str:
    return f"{anything} annotated"


def every(**arguments: Any) -> str:
    return ",".join(sorted(arguments))


def test_a_definition_is_made_of_hints() -> None:
    made = define(
        handler=named,
        read_only_hint=True,
        destructive_hint=False,
        idempotent_hint=True,
        open_world_hint=True,
        category="weather",
        tags=["sun", "rain", "sun"],
    )
    assert made.to_mcp_schema()["annotations"] == {
        "title": "Get weather",
        "readOnlyHint": True,
        "destructiveHint": False,
        "idempotentHint": True,
        "openWorldHint": True,
    }
    assert made.category == "weather"
    assert made.tags == ("sun", "rain")


def test_omitted_hints_take_the_defaults_of_the_specification() -> None:
    made = define()
    assert (made.read_only_hint, made.destructive_hint) == (False, True)
    assert (made.idempotent_hint, made.open_world_hint) == (False, True)


def test_only_hints_that_were_given_can_contradict_each_other() -> None:
    assert define(read_only_hint=True).read_only_hint is True
    with pytest.raises(UsageError, match="weather_get"):
        define(read_only_hint=True, destructive_hint=True)


@pytest.mark.parametrize(
    "words",
    [
        {"readOnlyHint": True},
        {"read_only": True},
        {"annotations": {"readOnlyHint": True, "x-more": 1}},
        {"annotations": ToolAnnotations.model_validate({"readOnlyHint": True})},
        {"intent": {"readOnlyHint": True}},
        {"intent": sayso.Hints(read_only=True)},
        {"intent": sayso.READ_ONLY},
    ],
    ids=str,
)
def test_words_of_the_protocol_are_taken_wherever_intent_is_given(words: dict[str, Any]) -> None:
    assert define(**words).read_only_hint is True


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ({"readOnlyHint": "true"}, "must be True, False or None"),
        ({"readOnlyHint": True, "read_only_hint": False}, "has two values"),
        ({"annotations": 7}, "annotations must be"),
        ({"intent": "READ_ONLY"}, "is not an intent"),
        ({"read_onlyHint": True}, "unknown field"),
        ({"tags": "weather"}, "tags must be"),
    ],
)
def test_what_cannot_be_meant_is_refused(words: dict[str, Any], problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        define(**words)


@pytest.mark.parametrize(
    ("handler", "result"),
    [
        (bare, "bare"),
        (named, "Rome 1"),
        (whole, "Rome whole"),
        (only_context, "CTX only"),
        (both, "CTX Rome"),
        (named_context, "CTX Rome"),
        (annotated, "CTX annotated"),
        (every, "city"),
    ],
)
def test_a_handler_takes_what_it_wants(handler: Any, result: Any) -> None:
    execute: Any = define(handler=handler).execute
    assert execute("CTX", {"city": "Rome"}) == result


def test_a_handler_that_wants_something_else_is_refused_when_the_tool_is_made() -> None:
    def odd(country: str, continent: str) -> str:
        return country + continent

    for handler in (odd, 7, dict):
        with pytest.raises(UsageError, match="weather_get"):
            define(handler=handler)
    with pytest.raises(UsageError, match="not both"):
        define(handler=bare, execute=both)
