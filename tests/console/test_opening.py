"""From an access.toml to a console that people log in to, as `sayso gateway` starts it."""

import re
from collections.abc import AsyncGenerator
from pathlib import Path

import anyio
import httpx2
import pytest
from tests.cli.running import python, sayso_process, started
from tests.console.conftest import Bench
from tests.console.issuer import SECRET, Issuer, serve_issuer

from sayso.console import open_provider

pytestmark = pytest.mark.anyio

PAGE = (Path(__file__).parents[2] / "docs" / "guides" / "console.md").read_text()


@pytest.fixture
async def issuer() -> AsyncGenerator[Issuer]:
    async with serve_issuer() as running:
        yield running


async def test_nobody_is_asked_where_nobody_is_named(bench: Bench) -> None:
    async with open_provider(
        None, bench.store.tokens, bench.gateway.keys, url="http://x"
    ) as provider:
        assert provider is None


@pytest.mark.process
async def test_the_file_in_the_documents_lets_people_log_in(issuer: Issuer, tmp_path: Path) -> None:
    (text,) = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
    assert "https://login.example.com/realms/studio" in text
    access = tmp_path / "access.toml"
    access.write_text(text.replace("https://login.example.com/realms/studio", issuer.base))
    (tmp_path / "console.secret").write_text(f"{SECRET}\n")
    issuer.person = {"sub": "amy", "realm_access": {"roles": ["finance"]}}
    store = f"sqlite:{tmp_path / 'sayso.db'}"
    words = ("--port", "0", "--json", "--store", store, "--access", str(access))

    def run() -> None:
        with started("gateway", *words, "--", *python("plain")) as run:
            assert run.first, run.err()
            base = run.addresses["mcp"].removesuffix("/mcp")
            with httpx2.Client(verify=False, follow_redirects=True) as browser:
                page = browser.get(f"{base}/console/")
                assert page.status_code == 401
                assert "Log in with your account" in page.text
                entered = browser.get(f"{base}/console/login/oidc")
                assert entered.status_code == 200, entered.text
                assert "amy" in browser.get(f"{base}/console/").text
            assert run.end().code == 0

    await anyio.to_thread.run_sync(run)
    assert len(issuer.asked) == 1


@pytest.mark.process
async def test_a_mistake_in_the_file_is_told_before_anything_starts(tmp_path: Path) -> None:
    access = tmp_path / "access.toml"
    access.write_text(
        'api_keys = true\n[console]\nissuer = "http://x.example"\nclient_id = "sayso"\n'
    )
    store = f"sqlite:{tmp_path / 'sayso.db'}"
    words = ("--port", "0", "--json", "--store", store, "--access", str(access))

    done = await anyio.to_thread.run_sync(
        lambda: sayso_process("gateway", *words, "--", *python("plain"))
    )

    assert (done.code, done.out) == (2, "")
    assert f"{access}:3" in done.error["errors"][0]["where"]
    assert not (tmp_path / "sayso.db").exists()
