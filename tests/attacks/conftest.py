"""What attacks share: a store of each kind, an issuer, a server that writes down what reached it,
and a gateway before it."""

from collections.abc import AsyncGenerator, Callable, Generator
from pathlib import Path

import pytest
from tests.access.authority import Authority, serve_authority
from tests.attacks.serving import Place, behind_access
from tests.connect.servers.web import Site, serve_web
from tests.databases import KINDS, new_places, postgres

from sayso.connect import UrlTarget

__all__ = ["postgres"]

ONE_STORE = frozenset(
    {
        # About the connection to an upstream server, and slow on purpose.
        "test_a_redirect_leads_nowhere_but_to_the_server_itself",
        "test_a_server_that_says_a_byte_at_a_time_holds_up_its_own_call_alone",
        # About the limits of the HTTP server.
        "test_the_gateway_has_these_limits",
        "test_two_thousand_callers_that_never_end_their_request_hold_up_nobody",
    }
)
"""Tests, and fixtures of tests, that run on SQLite alone, since what they show cannot depend on the
store. So do `test_doors` and `test_headers` (refused at the door by the form of the request, by
one `shared` gateway) and `test_disk` (it fills a disk of its own, which only SQLite writes to). All
others of this folder that have a store run on each kind."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Give each test that has a store one of each kind, or only the first (`ONE_STORE`)."""
    if "new_store" in metafunc.fixturenames:
        kinds = KINDS[:1] if metafunc.function.__name__ in ONE_STORE else KINDS
        metafunc.parametrize("new_store", kinds, indirect=True)


@pytest.fixture
def new_store(request: pytest.FixtureRequest, tmp_path: Path) -> Generator[Callable[[], str]]:
    """A function that gives URLs of new, empty stores."""
    with new_places(request, tmp_path) as make:
        yield lambda: make().url


@pytest.fixture
def store(new_store: Callable[[], str]) -> str:
    """The URL of an empty store."""
    return new_store()


@pytest.fixture(scope="module")
async def served_authority() -> AsyncGenerator[Authority]:
    """A running authorization server, for all tests of a file."""
    async with serve_authority() as running:
        yield running


@pytest.fixture
def authority(served_authority: Authority) -> Authority:
    """The authorization server, as if it had just been started."""
    served_authority.reset()
    return served_authority


@pytest.fixture
def site() -> Generator[Site]:
    """A sound server of 2026-07-28."""
    with serve_web() as running:
        yield running


@pytest.fixture
async def place(authority: Authority, site: Site, store: str) -> AsyncGenerator[Place]:
    """A gateway that knows its callers, before that server."""
    target = UrlTarget("web", site.url)
    async with behind_access(authority, target, store=store) as running:
        yield running


@pytest.fixture(scope="module")
async def shared(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[tuple[Place, Site]]:
    """One gateway and its server for all tests of a module, where hardly any gets anywhere."""
    with serve_web() as site:
        target = UrlTarget("web", site.url)
        store = f"sqlite:{tmp_path_factory.mktemp('headers') / 'a.db'}"
        async with (
            serve_authority() as authority,
            behind_access(authority, target, store=store) as place,
        ):
            yield place, site
