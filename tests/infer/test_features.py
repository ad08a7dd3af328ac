"""Features of a tool's parameters."""

from typing import Any

import pytest

from sayso.infer.features import features


def seen(name: str, /, **schema: Any) -> set[str]:
    """The features that a parameter adds."""
    one = {"type": "string", **schema}
    return features({"inputSchema": {"properties": {name: one}}}).keys() - features({}).keys()


@pytest.mark.parametrize(
    ("name", "description", "expected"),
    [
        ("sql", "The statement", {"px:code?"}),
        ("query", "A statement of SQL", {"px:sql?", "px:page"}),
        ("request_body", "What is sent", {"px:body?"}),
        ("page_size", "How many", {"px:page"}),
        ("output_path", "A file that will be written", {"px:out?", "px:saves"}),
        ("output_path", "A folder", {"px:out?"}),
        ("title", "The new title", {"pd:new"}),
        ("customer", "Whom to delete", {"pdl:delete", "pd:destroy"}),
        ("customer", "Who it is", set[str]()),
    ],
)
def test_what_a_parameter_is_good_for_is_told_by_its_name_and_description(
    name: str, description: str, expected: set[str]
) -> None:
    found = seen(name, description=description)

    assert {one for one in found if one.startswith(("px:", "pd"))} == expected
