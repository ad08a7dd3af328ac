"""The pytest plugin: fixtures, the check of promises, and what is said at the end of a run.

Only what pytest needs to know of it is here; all else is imported by who uses it.
"""

from collections.abc import Generator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

from sayso.testing.moment import moment
from sayso.testing.promises import MARK, manifests
from sayso.testing.tally import Tally

if TYPE_CHECKING:
    from sayso.testing.approver import Approver
    from sayso.testing.guest import ClientFactory

_TALLY: Final = pytest.StashKey[Tally]()


@pytest.fixture
def sayso_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Where records and approvals are kept in this test, and nowhere else, unless code names it."""
    url = f"sqlite:{tmp_path / 'sayso.db'}"
    monkeypatch.setenv("SAYSO_STORE", url)
    for name in ("SAYSO_KEYS", "SAYSO_KEYS_FILE"):
        monkeypatch.delenv(name, raising=False)
    return url


@pytest.fixture
def sayso_client(sayso_store: str) -> "ClientFactory":
    """A factory of clients with a caller, a policy and people of choice; see `open_client`."""
    from sayso.testing.guest import open_client  # noqa: PLC0415 - costs half a second, for who asks

    return partial(open_client, store=sayso_store)


@pytest.fixture
def approver() -> "Generator[Approver]":
    """Answers by a script: `approver.allow("customer_delete")`; see `sayso.testing.Approver`."""
    from sayso.testing.approver import Approver  # noqa: PLC0415 - as above

    made = Approver()
    yield made
    made.check()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Offer `--sayso-update`."""
    parser.getgroup("sayso").addoption(
        "--sayso-update",
        action="store_true",
        help="record the surfaces of servers anew, as assert_surface finds them",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Begin to count, and make the mark known."""
    config.addinivalue_line(
        "markers", f"{MARK}(id): the test shows this promise; write @sayso.testing.requirement(id)"
    )
    moment.is_updating = bool(config.getoption("--sayso-update"))
    config.stash[_TALLY] = Tally()


def pytest_itemcollected(item: pytest.Item) -> None:
    """Note which promises a test shows, before anything is left out by `-k` or `-m`."""
    ids = [str(word) for mark in item.iter_markers(MARK) for word in mark.args]
    if ids:
        item.config.stash[_TALLY].claim(item.nodeid, ids)


def pytest_collection_finish(session: pytest.Session) -> None:
    """Take in the manifests: those that modules of tests declare, not those of a test's own."""
    session.config.stash[_TALLY].manifests = manifests()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Remember where the test is: a snapshot stands beside it."""
    moment.folder = item.path.parent


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown() -> None:
    """Forget where the test was."""
    moment.folder = None


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Note how a test that shows a promise has ended."""
    report = yield
    item.config.stash[_TALLY].note(report.nodeid, report.when, report.outcome)
    return report


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Hold promises and tests against each other; the run fails where one lacks the other."""
    tally = session.config.stash[_TALLY]
    tally.settle(why_in_part(session))
    if tally.problems and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Say what became of the promises, and what is to be recorded."""
    tally = config.stash[_TALLY]
    lines = [
        *((problem, True) for problem in tally.problems),
        *((remark, False) for remark in tally.remarks),
    ]
    lines += [(note, False) for note in moment.notes]
    if lines:
        terminalreporter.section("sayso")
    for line, is_wrong in lines:
        terminalreporter.line(line, red=is_wrong)


def why_in_part(session: pytest.Session) -> str | None:
    """Why not all tests were collected, if so: then one that is missing may still be there."""
    config = session.config
    if getattr(config.option, "dist", "no") != "no":
        return "the tests run in several processes"
    if config.getoption("lf", default=False) or config.getoption("ignore", default=None):
        return "some files are left out"
    if session.testsfailed and not session.items:
        return "not all tests could be collected"
    if config.args_source is not pytest.Config.ArgsSource.ARGS:
        return None
    given = [Path(config.invocation_params.dir, argument) for argument in config.args]
    homes = config.stash[_TALLY].homes()
    if all(
        any(folder.is_dir() and home.is_relative_to(folder) for folder in given) for home in homes
    ):
        return None
    return "only some of the tests were named"
