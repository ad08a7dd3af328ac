"""The servers page: what is told of each server, and trying one again."""

import sys
from pathlib import Path

import anyio
import httpx2
import pytest
from starlette.applications import Starlette
from tests.console.conftest import BASE, Bench, csrf_of, token_of
from tests.console.test_approvals import plain

from sayso.connect import CommandTarget, UrlTarget
from sayso.console import Login, make_routes
from sayso.errors import UnreachableError
from sayso.gateway import open_gateway
from sayso.store.sqlite import open_sqlite

pytestmark = pytest.mark.anyio

TALKS = """
import sys
sys.stderr.write("reading the key sk-live-0123456789abcdef0123\\n")
sys.stderr.flush()
from sayso.demo.server import main
sys.exit(main([]))
"""


async def test_a_server_is_told_of_with_its_tools(bench: Bench) -> None:
    bench.shelf.state.is_up("2025-06-18")
    async with bench.browser() as browser:
        words = plain((await browser.get("/console/servers")).text)

    assert "1 server" in words
    assert "studio ● up since" in words
    assert "2025-06-18 with handshake" in words
    assert "a program on this machine (stdio): studio-server one per caller" in words
    assert "2 : 1 read, 0 write, 1 destructive" in words
    assert "none to accept" in words
    assert "not verified" in words
    assert "cautious" in words


async def test_a_server_that_fails_says_why_and_can_be_tried_again(bench: Bench) -> None:
    bench.shelf.error = UnreachableError("it ended", where="studio")
    bench.shelf.state.is_failing("the server ended before it answered\nno key")
    async with bench.browser() as browser:
        page = await browser.get("/console/servers")
        words = plain(page.text)
        data = {"csrf": csrf_of(page), "name": "studio"}
        sent = await browser.post("/console/servers/retry", data=data)
        lost = await browser.post("/console/servers/retry", data=data | {"name": "no such"})

    assert "1 server, 1 failing" in words
    assert "✕ failing since" in words
    assert "the server ended before it answered\nno key" in page.text
    assert "none known" in words
    assert sent.headers["location"] == "/console/servers"
    assert bench.shelf.retried == 1
    assert lost.status_code == 404


async def test_what_an_address_hides_is_not_shown(bench: Bench) -> None:
    bench.shelf.target = UrlTarget("studio", "https://example.com/mcp?key=hunter2", is_shared=True)  # pyright: ignore[reportAttributeAccessIssue]
    async with bench.browser() as browser:
        words = plain((await browser.get("/console/servers")).text)

    assert "streamable HTTP: https://example.com/mcp?… shared by all callers" in words
    assert "hunter2" not in words


@pytest.mark.process
async def test_a_real_server_is_told_of_and_comes_back(tmp_path: Path) -> None:
    talks, gone = tmp_path / "talks.py", tmp_path / "gone.py"
    talks.write_text(TALKS)
    targets = [
        CommandTarget("talks", sys.executable, (str(talks), "hunter2")),
        CommandTarget("gone", sys.executable, (str(gone),)),
    ]
    store = open_sqlite(tmp_path / "sayso.db")
    async with open_gateway(targets, store) as gateway:
        login = Login(BASE, tokens=store.tokens, keys=gateway.keys)
        app = Starlette(routes=make_routes(gateway, login, base_url=BASE))
        async with httpx2.AsyncClient(
            transport=httpx2.ASGITransport(app), base_url=BASE
        ) as browser:
            await browser.post("/console/login", data={"token": token_of(login.link())})
            with anyio.fail_after(30):
                while "8 : 3 read" not in (
                    words := plain((page := await browser.get("/console/servers")).text)
                ):
                    pass
            assert "talks named Studio customers and invoices sayso-demo" in words
            assert "2026-07-28 stateless requests" in words
            assert "1 open, 0 restarted, 0 failed or lost" in words
            assert "reading the key •••" in words
            assert "hunter2" not in words
            assert "sk-live" not in words
            assert "gone ✕ failing" in words

            gone.write_text(TALKS)
            data = {"csrf": csrf_of(page), "name": "gone"}
            await browser.post("/console/servers/retry", data=data)
            with anyio.fail_after(30):
                while "failing" in words:
                    words = plain((await browser.get("/console/servers")).text)

    await store.close()
    assert "gone named Studio customers and invoices" in words
