"""A server that dies at any moment of any call: no write runs twice, and the log tells of each."""

import json
import random
import sys
from collections import Counter
from pathlib import Path

import anyio
import pytest
from mcp import Client
from tests.gateway.serving import ERAS, serve

from sayso.connect import CommandTarget

pytestmark = [pytest.mark.anyio, pytest.mark.proof]

CALLS = 60
SEED = 20261121

SERVER = '''
import os, random, sys
from mcp.server import MCPServer
from mcp_types import ToolAnnotations

journal, seed = sys.argv[1], sys.argv[2]
server = MCPServer("mortal")
chance = random.Random(f"{seed} {os.getpid()}")

def maybe_die():
    if chance.random() < 0.15:
        os._exit(9)

@server.tool(annotations=ToolAnnotations(
    read_only_hint=False, destructive_hint=False, idempotent_hint=False, open_world_hint=False))
def append(number: int) -> str:
    """Append a number to the journal."""
    maybe_die()
    with open(journal, "a") as file:
        file.write(f"{number}\\n")
    maybe_die()
    return "done"

server.run("stdio")
'''


@pytest.mark.parametrize("era", ERAS)
async def test_whatever_dies_nothing_runs_twice_and_all_is_on_record(
    era: str, tmp_path: Path
) -> None:
    program, journal = tmp_path / "mortal.py", tmp_path / "journal"
    program.write_text(SERVER)
    journal.touch()
    target = CommandTarget("m", sys.executable, (str(program), str(journal), str(SEED)))
    answers: dict[int, bool] = {}
    chance = random.Random(SEED)  # noqa: S311 - chance for a test, to be had again
    async with serve(target, store=tmp_path / "sayso.db") as served:

        async def call(client: Client, number: int) -> None:
            with anyio.move_on_after(chance.choice([0.002, 30, 30, 30])):
                result = await client.call_tool("m__append", {"number": number})
                answers[number] = not result.is_error

        with anyio.fail_after(240):
            for first in range(0, CALLS, 4):
                async with (
                    Client(served.url, mode=era) as client,
                    anyio.create_task_group() as group,
                ):
                    for number in range(first, first + 4):
                        group.start_soon(call, client, number)
            rows = await served.gateway.guard.audit.newest(limit=10_000)
    ran = Counter(int(line) for line in journal.read_text().split())
    assert max(ran.values()) == 1
    assert {number for number, is_done in answers.items() if is_done} <= set(ran)

    attempted = {
        json.loads(row.body)["arguments"]["number"] for row in rows if row.event == "attempt"
    }
    assert set(ran) <= attempted
    outcomes = Counter(json.loads(row.body)["outcome"] for row in rows if row.event == "outcome")
    assert outcomes["outcome_unknown"] > 0
    assert outcomes["ok"] > 0
