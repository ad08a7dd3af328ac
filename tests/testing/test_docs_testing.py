"""The snippets of docs/guides/testing.md are tests, and pass as such."""

import re
from pathlib import Path

import pytest

pytest_plugins = ["pytester"]

DOCUMENT = Path(__file__).parents[2] / "docs" / "guides" / "testing.md"


def test_the_snippets_of_the_page_pass_as_a_project(pytester: pytest.Pytester) -> None:
    snippets = re.findall(r"```python\n(.*?)```", DOCUMENT.read_text(), re.DOTALL)
    tests = [one for one in snippets if "def test_" in one]
    pytester.makeini("[pytest]\nanyio_mode = auto\nfilterwarnings = error\nstrict = true\n")
    pytester.makepyfile(**{f"test_{index}": one for index, one in enumerate(tests)})

    done = pytester.runpytest_subprocess("--sayso-update", "-p", "no:cacheprovider")

    assert done.ret == 0, done.outlines
    shown = "\n".join(done.outlines)
    assert f"{sum(one.count('def test_') for one in tests)} passed" in shown
    assert (pytester.path / "surface.json").exists()
