"""A well-known server starts behind the gateway without an alarming line in the log."""

import logging
from pathlib import Path

import anyio
import pytest
from tests.connect.serving import raw_client
from tests.gateway.serving import serve
from tests.gateway.test_everything import needs_npm

from sayso.connect import CommandTarget

pytestmark = pytest.mark.anyio

PROGRAM = (
    Path(__file__).parents[1]
    / "npm/node_modules/@modelcontextprotocol/server-filesystem/dist/index.js"
)


@needs_npm
@pytest.mark.skipif(not PROGRAM.exists(), reason="needs the server from npm")
async def test_a_server_that_asks_for_roots_at_once_logs_no_error(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, "sayso")
    target = CommandTarget("files", "node", (str(PROGRAM), str(tmp_path)))
    async with serve(target, store=tmp_path / "a.db") as served:
        async with raw_client(served.url, "2025-11-25") as client:
            result = await client.call("files__list_allowed_directories")
            assert str(tmp_path) in str(result)
        with anyio.fail_after(30):
            while "could be asked roots/list" not in caplog.text:
                await anyio.sleep(0.01)

    shown = [one.getMessage() for one in caplog.records if one.levelno >= logging.INFO]
    assert shown
    assert not [one for one in shown if "Failed" in one or "rror" in one]
