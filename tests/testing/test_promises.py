"""Promises against tests, in runs of pytest of their own."""

import pytest

from sayso.errors import UsageError
from sayso.testing import manifest, promises, requirement

pytest_plugins = ["pytester"]

MANIFEST = """
from sayso.testing import manifest

PROMISES = manifest({
    "shop.delete-asks": "A delete waits for a person",
    "shop.list-is-whole": "A list leaves nothing out",
})
"""
TESTS = """
import pytest
from sayso.testing import requirement

@requirement("shop.delete-asks")
def test_delete(): pass

@requirement("shop.list-is-whole")
class TestList:
    def test_one(self): pass
"""


@pytest.fixture
def project(pytester: pytest.Pytester) -> pytest.Pytester:
    pytester.makeini("[pytest]\nstrict_markers = true\n")
    pytester.makeconftest(MANIFEST)
    pytester.makepyfile(test_shop=TESTS)
    return pytester


def run(project: pytest.Pytester, *words: str) -> tuple[int, str]:
    done = project.runpytest_subprocess("-p", "no:cacheprovider", "-p", "no:anyio", *words)
    return int(done.ret), "\n".join([*done.outlines, *done.errlines])


def test_promises_that_tests_show_are_counted(project: pytest.Pytester) -> None:
    code, shown = run(project)
    assert code == 0
    assert "2 promises: 2 passed" in shown


def test_a_promise_without_a_test_fails_the_run(project: pytest.Pytester) -> None:
    project.makepyfile(test_shop=TESTS.replace("shop.list-is-whole", "shop.delete-asks"))
    code, shown = run(project)
    assert code == 1
    assert "no test covers the promise shop.list-is-whole: A list leaves nothing out" in shown
    assert "2 passed" in shown


def test_a_test_for_no_promise_fails_the_run_with_what_was_meant(project: pytest.Pytester) -> None:
    project.makepyfile(test_more=TESTS.replace("shop.delete-asks", "shop.delete-ask"))
    code, shown = run(project)
    assert code == 1
    assert (
        "test_more.py::test_delete covers shop.delete-ask, which is not in a manifest; "
        "did you mean shop.delete-asks?" in shown
    )


def test_tests_of_promises_without_a_manifest_fail_the_run(project: pytest.Pytester) -> None:
    project.makeconftest("")
    code, shown = run(project)
    assert code == 1
    assert "which is not in a manifest; add it to a manifest" in shown


def test_a_run_of_some_tests_does_not_ask_for_the_rest(project: pytest.Pytester) -> None:
    code, shown = run(project, "test_shop.py::test_delete")
    assert code == 0
    assert "only some of the tests were selected" in shown
    code, shown = run(project, "--ignore=test_other.py")
    assert code == 0


def test_tests_that_are_not_selected_still_show_their_promise(project: pytest.Pytester) -> None:
    code, shown = run(project, "-k", "delete")
    assert code == 0
    assert "1 passed, 1 did not run" in shown


def test_a_folder_that_holds_the_manifest_is_the_whole(project: pytest.Pytester) -> None:
    project.makepyfile(test_shop="def test_nothing(): pass")
    code, shown = run(project, ".")
    assert code == 1
    assert "no test covers the promise shop.delete-asks" in shown
    project.mkdir("other").joinpath("test_other.py").write_text("def test_nothing(): pass")
    assert run(project, "other")[0] == 0


def test_failures_and_skips_are_told_apart(project: pytest.Pytester) -> None:
    text = TESTS.replace("test_delete(): pass", "test_delete(): assert False")
    project.makepyfile(test_shop=text.replace("def test_one(self): pass", SKIPPED))
    code, shown = run(project)
    assert code == 1
    assert "1 failed, 1 skipped" in shown


SKIPPED = "def test_one(self): pytest.skip()"


def test_a_run_without_promises_says_nothing(project: pytest.Pytester) -> None:
    project.makeconftest("")
    project.makepyfile(test_shop="def test_nothing(): pass")
    code, shown = run(project)
    assert code == 0
    assert "= sayso =" not in shown


def test_a_mark_of_nothing_is_a_mistake() -> None:
    for wrong in ((), (lambda: None,)):
        with pytest.raises(UsageError, match="a promise's id is required"):
            requirement(*wrong)  # pyright: ignore[reportArgumentType]


def test_an_id_says_one_thing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(promises, "_manifests", [])
    manifest({"a": "b"})
    manifest({"a": "b"})
    with pytest.raises(UsageError, match="this id already has the text “b”"):
        manifest({"a": "c"})
    with pytest.raises(UsageError, match="requires an id and a text"):
        manifest({"d": " "})
