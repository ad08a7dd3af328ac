"""What the documents say is true: their Python runs, and every error has its heading."""

import re
import sys
from pathlib import Path

import pytest
from tests.terminals import run_on_terminal

from sayso import errors

ROOT = Path(__file__).parent.parent
SNIPPETS = [
    pytest.param(code, id=f"{path.name}-{index}")
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").glob("**/*.md"))]
    for index, code in enumerate(re.findall(r"```python\n(.*?)```", path.read_text(), re.DOTALL))
]


@pytest.mark.parametrize("code", SNIPPETS)
def test_python_in_the_documents_runs(code: str, tmp_path: Path) -> None:
    words = [sys.executable, "-W", "error", "-c", code]
    ended, shown = run_on_terminal(words, {"yes or no? ": "yes\n"}, cwd=tmp_path)
    assert ended == 0, shown


KINDS = [
    one
    for one in vars(errors).values()
    if isinstance(one, type) and issubclass(one, errors.SaysoError)
]


def test_every_error_has_a_heading_and_every_heading_an_error() -> None:
    text = (ROOT / "docs" / "guides" / "troubleshooting.md").read_text()
    assert set(re.findall(r"^## (.+)$", text, re.MULTILINE)) == {one.code for one in KINDS}


def test_the_tree_in_the_docstring_is_the_tree() -> None:
    drawn = re.findall(r"([A-Z]\w+Error)", errors.__doc__ or "")
    assert sorted(drawn) == sorted(one.__name__ for one in KINDS)


def test_links_inside_the_project_lead_somewhere() -> None:
    for path in [*ROOT.glob("*.md"), *(ROOT / "docs").glob("**/*.md")]:
        for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", path.read_text()):
            # The site's build writes these, and checks the links to them.
            is_generated = re.fullmatch(r"(\.\./)?reference/\w+\.md", link) is not None
            assert is_generated or (path.parent / link).exists(), f"{path.name}: {link}"


def test_tests_that_the_threat_model_names_are_there() -> None:
    text = (ROOT / "SECURITY.md").read_text()
    for named in re.findall(r"`(tests/[\w/.]+)`", text):
        assert (ROOT / named).exists(), named
    sources = "\n".join(path.read_text() for path in (ROOT / "tests").glob("**/test_*.py"))
    for phrase in re.findall(r"`: \*([^*…]+)…?\*", text):
        assert phrase.replace(" ", "_").lower() in sources, phrase
