"""Servers on an older SDK: the probe for their version ends them, and they talk on stdout."""

import logging
import os
import sys
from pathlib import Path

import pytest
from tests.connect.serving import SERVERS

from sayso.connect import CommandTarget
from sayso.connect.link import open_link
from sayso.connect.listing import read_list
from sayso.connect.stderr_log import reason_of
from sayso.errors import ServerExitedError

pytestmark = pytest.mark.anyio


def old(mode: str) -> CommandTarget:
    return CommandTarget("old", sys.executable, (str(SERVERS / "old_sdk.py"), mode))


@pytest.mark.parametrize("mode", ["dies", "hangs"])
@pytest.mark.process
async def test_a_server_that_the_probe_breaks_is_started_again_in_the_older_era(
    mode: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "sayso.connect.stderr_log")

    async with open_link(old(mode), timeout=40) as link:
        tools = (await read_list(link, "tools/list", timeout=30)).entries

    assert link.version == "2024-11-05"
    assert [tool["name"] for tool in tools] == ["get_old"]
    assert "validation error" not in caplog.text
    assert "Traceback" not in caplog.text


@pytest.mark.process
async def test_lines_on_stdout_that_are_not_mcp_are_mentioned_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with open_link(old("plain"), timeout=40) as link:
        caplog.clear()
        for _ in range(3):
            await read_list(link, "tools/list", timeout=30)

    skipped = [one for one in caplog.messages if "is not MCP" in one]
    assert len(skipped) <= 1


@pytest.mark.process
async def test_an_error_shows_the_servers_reason_and_no_stack_frames() -> None:
    with pytest.raises(ServerExitedError) as caught:
        async with open_link(old("broken"), timeout=40):
            raise AssertionError

    said = str(caught.value)
    assert said.endswith("RuntimeError: CHROMA_API_KEY is not set")
    for noise in ("Traceback", "File ", "validation", "server/discover", "Welcome"):
        assert noise not in said


NODE = """\
/app/index.js:12
    throw new Error("API key missing");
    ^

Error: API key missing
    at Object.<anonymous> (/app/index.js:12:11)
    at node:internal/main/run_main_module:28:49

Node.js v20.19.2
"""
CHAINED = """\
Traceback (most recent call last):
  File "a.py", line 3, in connect
    socket.create_connection(("db", 5432))
ConnectionRefusedError: [Errno 111] Connection refused

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File "a.py", line 9, in main
    connect()
app.errors.StartError: the database “db” cannot be reached
"""
GROUP = """\
  + Exception Group Traceback (most recent call last):
  |   File "a.py", line 1, in <module>
  | ExceptionGroup: unhandled errors in a TaskGroup (1 sub-exception)
  +-+---------------- 1 ----------------
    | Traceback (most recent call last):
    |   File "a.py", line 2, in run
    |     raise ValueError("no token")
    | ValueError: no token
    +------------------------------------
"""
SETTINGS = """\
Traceback (most recent call last):
  File "a.py", line 2, in run
    Settings()
pydantic_core._pydantic_core.ValidationError: 1 validation error for Settings
api_key
  Field required [type=missing, input_value={}, input_type=dict]
    For further information visit https://errors.pydantic.dev/2.11/v/missing
"""


@pytest.mark.parametrize(
    ("stderr", "reason"),
    [
        (NODE, ["Error: API key missing"]),
        (CHAINED, ["app.errors.StartError: the database “db” cannot be reached"]),
        (GROUP, ["ValueError: no token"]),
        (
            SETTINGS,
            [
                "pydantic_core._pydantic_core.ValidationError: 1 validation error for Settings",
                "api_key",
                "Field required [type=missing, input_value={}, input_type=dict]",
            ],
        ),
        ('Traceback (most recent call last):\n  File "a.py", line 2\nno token\n', ["no token"]),
        ("starting\nusage: server [--key KEY]\n", ["starting", "usage: server [--key KEY]"]),
        ("", []),
    ],
)
def test_the_reason_is_the_error_itself(stderr: str, reason: list[str]) -> None:
    assert reason_of([line for line in stderr.splitlines() if line.strip()], 5) == reason


PROGRAM = """
from mcp.server.fastmcp import FastMCP
server = FastMCP("old")
print("a plain line", flush=True)
@server.tool()
def get_old() -> str:
    return "old"
server.run()
"""
OLD_PYTHON = "SAYSO_TEST_OLD_SDK"
"""Names a Python that has `mcp` 1.x: it cannot share an environment with the SDK of today."""


@pytest.mark.proof
@pytest.mark.skipif(OLD_PYTHON not in os.environ, reason=f"{OLD_PYTHON} names no Python with mcp 1")
async def test_a_server_on_the_real_old_sdk_lists_its_tools(tmp_path: Path) -> None:
    program = tmp_path / "server.py"
    program.write_text(PROGRAM)
    async with open_link(
        CommandTarget("old", os.environ[OLD_PYTHON], (str(program),)), timeout=60
    ) as link:
        tools = (await read_list(link, "tools/list", timeout=30)).entries
    assert [tool["name"] for tool in tools] == ["get_old"]
