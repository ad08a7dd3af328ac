"""What all tests share."""

import functools
import gc
import logging
import os
import signal
import subprocess
from collections import Counter
from collections.abc import Generator, Iterator
from pathlib import Path

import httpcore2
import jinja2
import pytest
from tests import tiers
from tests.databases import place, postgres, store

__all__ = ["place", "postgres", "store"]

# Collecting imports everything and frees next to nothing; looking for garbage meanwhile took
# a third of the time, in each process.
gc.disable()

tiers.load_profiles()
tiers.watch()

# Every client reads the certificates of this machine, which takes 50 ms; one reading is enough.
httpcore2.default_ssl_context = functools.cache(httpcore2.default_ssl_context)

# Hundreds of consoles share what the first one compiled of its templates.
jinja2.Environment = functools.partial(
    jinja2.Environment, bytecode_cache=jinja2.FileSystemBytecodeCache()
)

# Each process of tests measures its coverage, and none of the hundreds of programs that they start:
# these would take twice as long to begin.
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.pop("COVERAGE_PROCESS_CONFIG", None)

# What is started in the background ignores Ctrl-C, and so would all that the tests start.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def _survive(_number: int, _frame: object) -> None:
    """Do nothing: started by nohup, the tests go on after a hangup."""


# A signal that is ignored stays so in all that is started; one with a handler is reset there.
for _number in (signal.SIGHUP, signal.SIGQUIT, signal.SIGTERM):
    if signal.getsignal(_number) is signal.SIG_IGN:
        signal.signal(_number, _survive)

LONG = {"serve/test_examples.py", "console/test_oidc.py", "intent/test_wire.py"}
"""Files of many tests that take long all the same: at the end one process is left with them."""


def pytest_itemcollected(item: pytest.Item) -> None:
    """Mark each test by what it needs."""
    tiers.mark(item)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None]:
    """Begin to count which programs a test starts."""
    del item
    tiers.STARTED.clear()
    yield


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None]:
    """Fail a test that starts a program and has no marker that says so."""
    yield
    tiers.check(item, tiers.STARTED)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Begin with the files of few tests, where several processes share them.

    A server, a database or a browser takes each of those long; files of many tests are tables, and
    quick. The other way round, one process is busy for half a minute after the others are done.
    """
    if hasattr(config, "workerinput"):
        count = Counter(item.path for item in items)
        long = {Path(__file__).parent / name for name in LONG}
        items.sort(key=lambda item: (item.path not in long, count[item.path]))


def pytest_collection_finish() -> None:
    """Look for garbage again, but not among what was imported."""
    gc.freeze()
    gc.enable()


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """Run asynchronous tests on asyncio, the loop that sayso is served on."""
    return "asyncio"


@pytest.fixture(autouse=True)
def restored_log() -> Iterator[None]:
    """Give the log its level and its handlers back: what runs in this process sets its own.

    A handler that stays would write to the standard error of its test, which is closed by then.
    """
    root = logging.getLogger()
    level, handlers = root.level, root.handlers[:]
    yield
    root.setLevel(level)
    root.handlers[:] = [
        handler
        for handler in root.handlers
        if handler in handlers or type(handler) is not logging.StreamHandler
    ]


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A git repository with one commit and one staged change."""
    folder = tmp_path / "repository"
    folder.mkdir()
    (folder / "a.txt").write_text("one\n")
    for words in (
        ["init", "-q", "-b", "main"],
        ["config", "user.email", "amy@example.com"],
        ["config", "user.name", "Amy"],
        ["add", "."],
        ["commit", "-q", "-m", "first"],
    ):
        subprocess.run(["git", "-C", str(folder), *words], check=True)
    (folder / "a.txt").write_text("two\n")
    subprocess.run(["git", "-C", str(folder), "add", "."], check=True)
    return folder
