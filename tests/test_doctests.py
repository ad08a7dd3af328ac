"""The examples in docstrings are run as they stand."""

import doctest
from importlib import import_module
from pathlib import Path

import pytest

import sayso

PACKAGE = Path(sayso.__file__).parent
# Only modules with an example are imported, so none of an optional package is needed for the rest.
WITH_EXAMPLES = [
    ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__")
    for path in sorted(PACKAGE.rglob("*.py"))
    if ">>> " in path.read_text(encoding="utf-8")
]


@pytest.mark.parametrize("name", WITH_EXAMPLES)
def test_the_examples_of_a_module_give_what_they_say(name: str) -> None:
    found = doctest.testmod(import_module(name))

    assert found.attempted > 0
    assert found.failed == 0


def test_modules_with_examples_are_found() -> None:
    assert {"sayso.intent.hints", "sayso.intent.presets", "sayso.policy.decision"} <= set(
        WITH_EXAMPLES
    )
