"""What the tests of access share: an authorization server, and a gateway's door before it."""

from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import pytest
from tests.access.authority import GATEWAY, Authority, serve_authority

from sayso.access import Access, RequestInfo, load_access, open_access
from sayso.connect.credentials import Wallet
from sayso.keys import Keyring
from sayso.store import Database, open_store

KEYS = Keyring.of([b"k" * 32])

Opened = Callable[..., AbstractAsyncContextManager[Access]]


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


def request_info(
    token: str | None = None,
    *,
    path: str = "/mcp",
    query: bytes = b"",
    peer: str | None = "203.0.113.9",
    scheme: str = "Bearer",
) -> RequestInfo:
    """A request from elsewhere, with a token or without."""
    headers = [(b"host", b"sayso.example.com")]
    if token is not None:
        headers.append((b"Authorization", f"{scheme} {token}".encode("latin-1")))
    return RequestInfo(headers, peer, path, query)


@pytest.fixture
async def kept(tmp_path: Path) -> AsyncGenerator[Database]:
    """A store in a file."""
    store = open_store(f"sqlite:{tmp_path / 'sayso.db'}")
    yield store
    await store.close()


@pytest.fixture
def opened(authority: Authority, kept: Database) -> Opened:
    """Opens an access by the text of its file; `{issuer}` stands for the server's address."""

    @asynccontextmanager
    async def run(
        text: str = '[oauth]\nissuer = "{issuer}"\n', wallet: Wallet | None = None
    ) -> AsyncGenerator[Access]:
        settings = load_access(text.replace("{issuer}", authority.base))
        async with open_access(settings, kept.api_keys, KEYS, url=GATEWAY, wallet=wallet) as access:
            yield access

    return run
