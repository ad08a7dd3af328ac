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
