"""The pytest plugin: fixtures, an option and the notes of a run."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from sayso.testing.run_state import run

if TYPE_CHECKING:
    from collections.abc import Generator

    from sayso.testing.approver import Approver
    from sayso.testing.client import ClientFactory


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
    from sayso.testing import open_client  # noqa: PLC0415 - takes half a second

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
    """Read the option."""
    run.is_updating = bool(config.getoption("--sayso-update"))


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Remember the test's folder, where its snapshots are."""
    run.folder = item.path.parent


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown() -> None:
    """Forget the test's folder."""
    run.folder = None


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Report the notes of the run."""
    if not run.notes:
        return
    terminalreporter.section("sayso")
    for line in run.notes:
        terminalreporter.line(line)
