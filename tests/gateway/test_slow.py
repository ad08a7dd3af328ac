"""Clients that do not read their messages delay no other client."""

from pathlib import Path

import anyio
import pytest
from tests.connect.servers.web import OLD
from tests.connect.serving import faulty, raw_client, until_there
from tests.gateway.serving import serve

pytestmark = pytest.mark.anyio


async def test_a_client_that_reads_nothing_holds_up_nobody_else(tmp_path: Path) -> None:
    async with (
        serve(faulty("chatty", "s"), store=tmp_path / "a.db") as served,
        raw_client(served.url, OLD) as slow,
        raw_client(served.url, OLD) as other,
    ):
        log = tmp_path / "log"
        flood = {"name": "s__get_echo", "arguments": {"lines": 500, "log": str(log)}}
        unread = await slow.open("tools/call", {**flood, "_meta": {"progressToken": 1}})
        await until_there(log, "told all")

        with anyio.fail_after(60):
            result = await other.call("s__get_echo")

        assert result["content"][0]["text"] == '"done"'
        await unread.close()


async def test_what_is_logged_comes_in_order_and_before_the_answer(tmp_path: Path) -> None:
    async with (
        serve(faulty("chatty", "s"), store=tmp_path / "a.db") as served,
        raw_client(served.url, OLD) as client,
    ):
        call = {"name": "s__get_echo", "arguments": {"lines": 20}}
        *logged, answer = await client.messages("tools/call", call)

    assert [one["params"]["data"].split()[0] for one in logged] == [str(n) for n in range(20)]
    assert answer["id"] == 7
