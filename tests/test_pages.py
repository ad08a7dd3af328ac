"""Help texts and errors lead to a page that is there."""

import re
from pathlib import Path

import pytest
from tests.cli.running import sayso

from sayso.pages import page_address

ROOT = Path(__file__).parents[1]
COMMANDS = re.findall(r"^│ (\w+) +[A-Z]", sayso("--help").out, re.MULTILINE)


def test_without_a_site_an_address_is_a_path_in_the_repository(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("SAYSO_DOCS", raising=False)
    assert page_address("guides/policy", "rules") == "docs/guides/policy.md#rules"


def test_the_address_of_the_site_is_configurable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SAYSO_DOCS", "https://docs.example/0.1/")
    assert page_address("guides/policy") == "https://docs.example/0.1/guides/policy.html"


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_the_help_of_a_command_ends_with_a_page(command: str) -> None:
    last = sayso(*command.split(), "--help").out.splitlines()[-1]
    page = last.removeprefix("Documentation: ")
    assert (ROOT / page).is_file(), last


def test_an_error_ends_with_the_heading_of_its_code() -> None:
    last = sayso("lint", "nowhere.json").err.splitlines()[-1]
    page, _, code = last.partition("#")
    assert f"\n## {code}\n" in (ROOT / page).read_text("utf-8")
