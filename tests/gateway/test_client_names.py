"""Names of clients: any but the one of sayso's console."""

import pytest

from sayso.gateway.frontends.client import CONSOLE, name_of


@pytest.mark.parametrize(
    ("said", "name"),
    [
        ("chat", "chat"),
        ("x" * 200, "x" * 128),
        (None, "unknown"),
        ("", "unknown"),
        (7, "unknown"),
        ("console agent", "console agent"),
    ],
)
def test_a_client_is_called_what_it_calls_itself(said: object, name: str) -> None:
    assert name_of({"name": said}) == name


@pytest.mark.parametrize("said", ["console", "Console", " console ", "CONSOLE\n"])
def test_no_client_is_taken_for_the_console(said: str) -> None:
    assert name_of({"name": said}) != CONSOLE
    assert name_of({"name": said}).strip().casefold() != CONSOLE
