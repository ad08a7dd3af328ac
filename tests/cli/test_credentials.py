"""Servers that want tokens, on the command line: they are looked at, and served to callers."""

from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import anyio
import pytest
from tests.access.authority import SECRET, Authority, serve_authority
from tests.cli.running import Done, sayso_process, started, write_json
from tests.connect.servers.web import MODERN
from tests.connect.serving import raw_client
from tests.gateway.admitting import VARIABLE, Admitting, admitting

pytestmark = pytest.mark.anyio


@pytest.fixture
async def authority() -> AsyncGenerator[Authority]:
    async with serve_authority() as running:
        yield running


@pytest.fixture
async def server(authority: Authority) -> AsyncGenerator[tuple[Admitting, str]]:
    async with admitting(authority, is_old=False) as running:
        yield running


def configured(folder: Path, authority: Authority, url: str, grant: str) -> str:
    auth: Any = {"type": grant, "token_url": f"{authority.base}/token", "client_id": "sayso"}
    auth["client_secret"] = f"env:{VARIABLE}"
    entry = {"url": url, "sayso": {"auth": auth}}
    return write_json(folder / "mcp.json", {"mcpServers": {"real": entry}})


async def run(*words: str, secret: str | None = SECRET) -> Done:
    """Beside the servers of this process."""
    variables: Any = {} if secret is None else {VARIABLE: secret}
    return await anyio.to_thread.run_sync(lambda: sayso_process(*words, **variables))


async def test_a_server_that_wants_a_token_of_saysos_own_is_inspected(
    authority: Authority, server: tuple[Admitting, str], tmp_path: Path
) -> None:
    config = configured(tmp_path, authority, server[1], "client_credentials")
    done = await run("inspect", "--json", config)
    assert "get_sum" in [one["name"] for one in done.json["tools"]]
    wrong = await run("inspect", "--json", config, secret="guess")
    assert (wrong.code, wrong.error["code"]) == (3, "authentication")
    assert "invalid_client" in wrong.error["what"]
    assert "guess" not in wrong.out + wrong.err
    missing = await run("inspect", "--json", config, secret=None)
    assert (missing.error["where"], missing.error["code"]) == (VARIABLE, "authentication")


async def test_a_server_that_wants_callers_tokens_needs_callers_that_have_some(
    authority: Authority, server: tuple[Admitting, str], tmp_path: Path
) -> None:
    config = configured(tmp_path, authority, server[1], "token_exchange")
    access = tmp_path / "access.toml"
    access.write_text("api_keys = true\n")
    for more in ((), ("--access", str(access))):
        done = await run("gateway", "--port", "0", "--json", *more, config)
        assert (done.code, done.error["code"], done.error["where"]) == (2, "config", "real")
        assert "use client_credentials" in done.error["fix"]
    looked = await run("inspect", "--json", config)
    assert looked.error["code"] == "authentication"
    assert authority.issued == []


async def test_it_is_served_to_callers_by_what_their_tokens_are_exchanged_for(
    authority: Authority, server: tuple[Admitting, str], tmp_path: Path
) -> None:
    admits, url = server
    config = configured(tmp_path, authority, url, "token_exchange")
    access = tmp_path / "access.toml"
    access.write_text(f'[oauth]\nissuer = "{authority.base}"\n')
    store = f"sqlite:{tmp_path / 'sayso.db'}"
    words = ("gateway", "--port", "0", "--json", "--access", str(access), "--store", store, config)
    # Nobody is asked for a token while it starts, so nothing waits for this process.
    variables: Any = {VARIABLE: SECRET}
    with started(*words, **variables) as gateway:
        url = gateway.addresses["mcp"]
        assert admits.shown == []
        tokens = [authority.sign(sub=one, aud=url) for one in ("amy", "bo")]
        for token in tokens:
            async with raw_client(url, MODERN, authorization=f"Bearer {token}") as client:
                answer = await client.call("real__get_sum", {"a": 2, "b": 3})
                assert answer["structuredContent"] == {"result": 5}
        done = await anyio.to_thread.run_sync(gateway.end)
    assert done.err == ""
    assert admits.callers() == set(tokens)
    assert len(set(admits.shown)) == 2
