"""The pytest plugin: fixtures, the check of promises and the summary of a run."""

from collections.abc import Generator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

from sayso.testing.promise_coverage import PromiseCoverage
from sayso.testing.promises import MARK, manifests
from sayso.testing.run_state import run

if TYPE_CHECKING:
    from sayso.testing.approver import Approver
    from sayso.testing.client import ClientFactory

_COVERAGE: Final = pytest.StashKey[PromiseCoverage]()


@pytest.fixture
def sayso_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return the URL of this test's own store, which is the default for all code in the test."""
    url = f"sqlite:{tmp_path / 'sayso.db'}"
    monkeypatch.setenv("SAYSO_STORE", url)
    for name in ("SAYSO_KEYS", "SAYSO_KEYS_FILE"):
        monkeypatch.delenv(name, raising=False)
    return url


@pytest.fixture
def sayso_client(sayso_store: str) -> "ClientFactory":
    """Return `sayso.testing.open_client` with the test's own store."""
    from sayso.testing.client import open_client  # noqa: PLC0415 - takes half a second

    return partial(open_client, store=sayso_store)


@pytest.fixture
def approver() -> "Generator[Approver]":
    """Return a `sayso.testing.Approver`, checked after the test."""
    from sayso.testing.approver import Approver  # noqa: PLC0415 - as above

    made = Approver()
    yield made
    made.check()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option `--sayso-update`."""
    parser.getgroup("sayso").addoption(
        "--sayso-update",
        action="store_true",
        help="update the files that assert_surface compares with",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Register the mark, and start counting promises."""
    config.addinivalue_line(
        "markers", f"{MARK}(id): the test covers this promise (use @sayso.testing.requirement(id))"
    )
    run.is_updating = bool(config.getoption("--sayso-update"))
    config.stash[_COVERAGE] = PromiseCoverage()


def pytest_itemcollected(item: pytest.Item) -> None:
    """Note the promises of a test, before `-k` or `-m` deselects it."""
    ids = [str(word) for mark in item.iter_markers(MARK) for word in mark.args]
    if ids:
        item.config.stash[_COVERAGE].claim(item.nodeid, ids)


def pytest_collection_finish(session: pytest.Session) -> None:
    """Collect the manifests that test modules declare."""
    session.config.stash[_COVERAGE].manifests = manifests()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Remember the test's folder, where its snapshots are."""
    run.folder = item.path.parent


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown() -> None:
    """Forget the test's folder."""
    run.folder = None


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Note the outcome of a test."""
    report = yield
    item.config.stash[_COVERAGE].note(report.nodeid, report.when, report.outcome)
    return report


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail the run if a promise has no test, or a test covers no promise."""
    coverage = session.config.stash[_COVERAGE]
    coverage.settle(why_partial(session))
    if coverage.problems and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Report the promises, and the notes of the run."""
    coverage = config.stash[_COVERAGE]
    lines = [*coverage.remarks, *run.notes]
    if coverage.problems or lines:
        terminalreporter.section("sayso")
    for problem in coverage.problems:
        terminalreporter.line(problem, red=True)
    for line in lines:
        terminalreporter.line(line)


def why_partial(session: pytest.Session) -> str | None:
    """Return why not all tests were collected, so that promises may seem to lack tests."""
    config = session.config
    if getattr(config.option, "dist", "no") != "no":
        return "the tests run in several processes"
    if config.getoption("lf", default=False) or config.getoption("ignore", default=None):
        return "some files are excluded"
    if session.testsfailed and not session.items:
        return "the collection of tests failed"
    if config.args_source is not pytest.Config.ArgsSource.ARGS:
        return None
    given = [Path(config.invocation_params.dir, argument) for argument in config.args]
    for home in config.stash[_COVERAGE].homes():
        if not any(folder.is_dir() and home.is_relative_to(folder) for folder in given):
            return "only some of the tests were selected"
    return None
