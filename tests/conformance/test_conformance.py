"""Real clients against the server from npm that has everything: direct, and through sayso.

What is answered must be the same, call by call, but for names and hints, and for what the table
lists with its reason; and all that the table lists must be there to be seen.
"""

import json
import socket
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import anyio
import pytest
from tests.conformance.comparison import as_declared, differences, unqualified
from tests.conformance.node import EVERYTHING, needs_npm, speak_inspector, speak_typescript
from tests.conformance.python import Answers, Speak, Where, speak_fastmcp, speak_sdk
from tests.conformance.script import STEPS, among
from tests.conformance.table import TABLE, Row, unlisted
from tests.connect.serving import ENVIRONMENT
from tests.gateway.serving import serve

from sayso.connect import CommandTarget, UrlTarget
from sayso.policy import load_policy

pytestmark = [
    pytest.mark.anyio,
    needs_npm,
    # The SDK warns of methods that are on their way out; they are what is tried here.
    pytest.mark.filterwarnings("ignore::mcp.MCPDeprecationWarning"),
]

SERVER = "everything"
COMMAND = ("node", str(EVERYTHING), "stdio")
SPEAKERS: dict[str, Speak] = {
    "sdk": speak_sdk,
    "fastmcp": speak_fastmcp,
    "typescript": speak_typescript,
    "inspector": speak_inspector,
}
MODERN = "2026-07-28"

PASSES = """
[[rules]]
name = "nobody-is-asked"
effect = "allow"
when = { server = "everything" }
"""
"""What is compared is the way through: whoever approves a call is tried elsewhere."""


@dataclass(frozen=True)
class Run:
    """One client in one era, through one door, before a server over stdio or HTTP."""

    client: str
    era: str
    door: str
    behind: str = "stdio"

    @property
    def traits(self) -> frozenset[str]:
        era = "modern" if self.era == MODERN else "legacy"
        # Inspector is started anew for each step, so it hears and is asked nothing.
        stays = () if self.client == "inspector" else ("session",)
        line = "pipe" if self.door == "pipe" else "url"
        return frozenset((self.client, era, self.door, self.behind, line, *stays))


SHORT = (Run("sdk", "legacy", "alone"), Run("sdk", MODERN, "alone"))
LONG = (
    *(
        Run(client, era, door)
        for client in ("sdk", "fastmcp", "typescript")
        for era in ("legacy", MODERN)
        for door in ("alone", "together")
        if Run(client, era, door) not in SHORT
    ),
    Run("inspector", "legacy", "alone"),
    Run("inspector", "legacy", "together"),
    Run("sdk", "legacy", "pipe"),
    Run("sdk", MODERN, "pipe"),
    Run("typescript", "legacy", "alone", "http"),
    Run("sdk", MODERN, "together", "http"),
)


@pytest.mark.parametrize("run", SHORT, ids=str)
async def test_answers_through_sayso_are_those_of_the_server(run: Run, tmp_path: Path) -> None:
    assert "\n".join(await _wrong(run, tmp_path)) == ""


@pytest.mark.proof
@pytest.mark.parametrize("run", LONG, ids=str)
async def test_answers_through_sayso_are_those_of_the_server_for_every_client(
    run: Run, tmp_path: Path
) -> None:
    assert "\n".join(await _wrong(run, tmp_path)) == ""


def test_a_difference_without_a_row_and_a_row_without_a_difference_are_told() -> None:
    table = [Row("echo: .a", "why"), Row("*.meta", "why"), Row("echo: .b", "why not")]
    found = {"echo: .a.x": "1 is now 2", "sum: .meta": "1 is now 2", "sum: .a": "1 is now 2"}
    assert unlisted(found, table, frozenset()) == [
        "differs, and no row says why: sum: .a | 1 is now 2",
        "differs no more, take the row out: echo: .b (why not)",
    ]
    assert unlisted({}, [Row("echo: ", "why", frozenset({"modern"}))], frozenset({"legacy"})) == []


def test_every_step_has_a_name_of_its_own() -> None:
    assert len({one.name for one in STEPS}) == len(STEPS)


_said: dict[tuple[str, str], Answers] = {}
"""What the server itself says to a client, which is asked once."""


async def _wrong(run: Run, folder: Path) -> list[str]:
    """What the table does not know of this run."""
    speak = SPEAKERS[run.client]
    if (run.client, run.behind) not in _said:
        async with _behind(run.behind) as direct:
            _said[run.client, run.behind] = await speak(direct, "legacy", STEPS)
    expected = _said[run.client, run.behind]
    async with _behind(run.behind) as behind, _door(run, behind, folder) as (where, is_alone):
        steps = STEPS if is_alone else among(STEPS, SERVER)
        answers = await speak(where, run.era, steps)
    assert run.era == "legacy" or answers["hello"]["version"] == run.era
    if not is_alone:
        answers = unqualified(answers, SERVER)
    return unlisted(differences(expected, as_declared(answers)), TABLE, run.traits)


@asynccontextmanager
async def _door(run: Run, behind: Where, folder: Path) -> AsyncGenerator[tuple[Where, bool]]:
    """Where the gateway is, and whether names are the server's own there."""
    if run.door == "pipe":
        yield _piped(folder), False
        return
    target = (
        UrlTarget(SERVER, behind)
        if isinstance(behind, str)
        else CommandTarget(SERVER, behind[0], (*behind[1:],))
    )
    policy = load_policy(PASSES)
    store = folder / "store.sqlite3"
    async with serve(target, store=store, policy=lambda: policy) as served:
        base = served.url.removesuffix("/mcp")
        is_alone = run.door == "alone"
        yield (f"{base}/servers/{SERVER}/mcp" if is_alone else served.url), is_alone


def _piped(folder: Path) -> Where:
    """The command that a desktop client starts."""
    config = folder / "mcp.json"
    entry = {"command": COMMAND[0], "args": [*COMMAND[1:]]}
    config.write_text(json.dumps({"mcpServers": {SERVER: entry}}))
    policy = folder / "policy.toml"
    policy.write_text(PASSES)
    store = f"sqlite:{folder / 'store.sqlite3'}"
    words = ("-m", "sayso", "gateway", str(config), "--policy", str(policy), "--stdio")
    words += ("--store", store, "--json")
    return ("env", *(f"{key}={one}" for key, one in ENVIRONMENT.items()), sys.executable, *words)


@asynccontextmanager
async def _behind(kind: str) -> AsyncGenerator[Where]:
    """The server itself, as a command or over HTTP."""
    if kind == "stdio":
        yield COMMAND
        return
    port = _free_port()
    words = ["env", f"PORT={port}", "node", str(EVERYTHING), "streamableHttp"]
    async with await anyio.open_process(words) as process:
        try:
            await _listens(port)
            yield f"http://127.0.0.1:{port}/mcp"
        finally:
            process.terminate()


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


async def _listens(port: int) -> None:
    with anyio.fail_after(60):
        while True:
            try:
                async with await anyio.connect_tcp("127.0.0.1", port):
                    return
            except OSError:
                await anyio.sleep(0.05)
