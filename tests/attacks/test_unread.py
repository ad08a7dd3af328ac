"""A client that reads nothing of what a loud server says about its call: it alone waits."""

import json
import re
import socket
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest
from tests.attacks.serving import request
from tests.connect.servers.web import MODERN, OLD
from tests.connect.serving import RawClient, raw_client, until
from tests.gateway.serving import serve

from sayso.connect import CommandTarget
from sayso.connect.envelope import Envelope

pytestmark = pytest.mark.anyio

LOUD = """
import json, sys
def say(**told): print(json.dumps({"jsonrpc": "2.0", **told}), flush=True)
HINTS = {"readOnlyHint": True}
TOOLS = [{"name": name, "inputSchema": {"type": "object"}, "annotations": HINTS}
    for name in ("get_loud", "get_echo")]
for line in sys.stdin:
    told = json.loads(line)
    number, method, params = told.get("id"), told.get("method"), told.get("params", {})
    if method == "initialize":
        offers = {"tools": {}, "logging": {}}
        say(id=number, result={"protocolVersion": "2025-11-25", "capabilities": offers,
            "serverInfo": {"name": "loud", "version": "1"}})
    elif method == "tools/list":
        say(id=number, result={"tools": TOOLS})
    elif method == "tools/call":
        token = params.get("_meta", {}).get("progressToken")
        for one in range(params["arguments"].get("times", 0)):
            text = "x" * 1_000
            say(method="notifications/message", params={"level": "error", "data": text})
            if token is not None:
                say(method="notifications/progress",
                    params={"progressToken": token, "progress": one, "message": text})
        say(id=number, result={"content": [{"type": "text", "text": "done"}]})
    elif number is not None:
        say(id=number, result={})
"""


PATIENCE = 90.0
"""Seconds: so much is said here that a busy machine takes long over it."""


def unread(client: RawClient, method: str, params: dict[str, Any]) -> socket.socket:
    """A connection on which this was asked, and nothing is read."""
    port = int(client.url.split(":")[2].split("/")[0])
    envelope = Envelope(client.era, {"name": "amy", "version": "1"}, {})
    said = {"jsonrpc": "2.0", "id": 7, "method": method, "params": envelope.params(params)}
    headers = {**envelope.headers(method, params), **client.session}
    found = socket.socket()
    found.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
    found.connect(("127.0.0.1", port))
    found.sendall(request(port, json.dumps(said).encode(), [*headers.items()]))
    return found


def peak(*, is_new: bool = False) -> int:
    """The most memory that this process has taken, in kilobytes; `is_new` begins to look now."""
    if is_new:
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    (found,) = re.findall(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())
    return int(found)


@pytest.fixture
def target() -> CommandTarget:
    return CommandTarget("loud", sys.executable, ("-c", LOUD), is_shared=True)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux says how much it took since when")
@pytest.mark.parametrize("era", [OLD, MODERN])
async def test_a_client_that_reads_nothing_holds_up_no_call_of_others(
    era: str, target: CommandTarget, store: str
) -> None:
    async with (
        serve(target, store=store, timeout=PATIENCE) as served,
        raw_client(served.url, era) as client,
        raw_client(served.url, MODERN) as other,
    ):
        await other.call("loud__get_echo")
        before = peak(is_new=True)
        meta = {"progressToken": 1}
        level = {"io.modelcontextprotocol/logLevel": "debug"}
        call = {"name": "loud__get_loud", "arguments": {"times": 20_000}, "_meta": meta | level}
        with unread(client, "tools/call", call) as silent:
            # The server says all of it before it answers anybody else: this must come first.
            with anyio.fail_after(PATIENCE):
                await anyio.wait_readable(silent)
                await until(lambda: b"notifications/" in silent.recv(65_536, socket.MSG_PEEK))
                answer = await other.call("loud__get_echo")
            assert answer["content"][0]["text"] == "done"
        assert peak() - before < 15_000, "kilobytes; what was said is more than 40,000"


@pytest.mark.parametrize("era", [OLD, MODERN])
async def test_a_client_that_reads_hears_all_that_was_said_and_in_order(
    era: str, target: CommandTarget, store: str
) -> None:
    async with (
        serve(target, store=store, timeout=PATIENCE) as served,
        raw_client(served.url, era) as client,
    ):
        meta = {"progressToken": 1, "io.modelcontextprotocol/logLevel": "debug"}
        call = {"name": "loud__get_loud", "arguments": {"times": 2_000}, "_meta": meta}
        *heard, last = await client.messages("tools/call", call)

    progress = [one["params"] for one in heard if one["method"] == "notifications/progress"]
    assert [one["progress"] for one in progress] == [*range(2_000)]
    assert len(heard) == 2 * len(progress)
    assert last["result"]["content"][0]["text"] == "done"
