"""What attacks share: an issuer, a server that writes down what reached it, a gateway before it."""

from collections.abc import AsyncGenerator, Generator
from pathlib import Path

import pytest
from tests.access.authority import Authority, serve_authority
from tests.attacks.serving import Place, behind_access
from tests.connect.servers.web import Site, serve_web

from avow.connect import UrlTarget


@pytest.fixture
async def authority() -> AsyncGenerator[Authority]:
    """A running authorization server."""
    async with serve_authority() as running:
        yield running


@pytest.fixture
def site() -> Generator[Site]:
    """A sound server of 2026-07-28."""
    with serve_web() as running:
        yield running


@pytest.fixture
async def place(authority: Authority, site: Site, tmp_path: Path) -> AsyncGenerator[Place]:
    """A gateway that knows its callers, before that server."""
    target = UrlTarget("web", site.url)
    async with behind_access(authority, target, store=tmp_path / "a.db") as running:
        yield running


@pytest.fixture(scope="module")
async def shared(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[tuple[Place, Site]]:
    """One gateway and its server for all tests of a module, where hardly any gets anywhere."""
    with serve_web() as site:
        target = UrlTarget("web", site.url)
        store = tmp_path_factory.mktemp("headers") / "a.db"
        async with (
            serve_authority() as authority,
            behind_access(authority, target, store=store) as place,
        ):
            yield place, site
