"""Two thousand connections at once, honest and stalling, to a `sayso gateway` process."""

import asyncio
import json
import resource
from collections.abc import Generator
from contextlib import contextmanager

import pytest
from tests.attacks.serving import CLI_KEYS, Answer, call_of, request, send_raw
from tests.cli.running import Started, python, started
from tests.connect.serving import modern, until_listed

pytestmark = pytest.mark.anyio

CROWD = 2_000
NEEDED = CROWD * 2
SECONDS = 60


@contextmanager
def enough_files() -> Generator[None]:
    """As many connections as the test makes; the gateway inherits it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = max(soft, NEEDED)
    assert hard == resource.RLIM_INFINITY or hard >= wanted, "this machine allows too few files"
    resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@contextmanager
def crowded(store: str) -> Generator[tuple[Started, int]]:
    words = ("gateway", "--port", "0", "--json", "--store", store, "--", *python("plain"))
    with enough_files(), started(*words, SAYSO_KEYS=CLI_KEYS) as run:
        until_listed(run.addresses["mcp"])
        yield run, int(run.addresses["mcp"].split(":")[2].split("/")[0])


async def echo_of(port: int) -> tuple[bytes, dict[str, str]]:
    """A call of the one tool that only echoes, whatever its server is called."""
    body, headers = modern("tools/list", {})
    (answer,) = await send_raw(port, request(port, body, [*headers.items()]), seconds=SECONDS)
    tools = answer.message["result"]["tools"]
    (name,) = [one["name"] for one in tools if one["name"].endswith("get_echo")]
    return call_of(name)


async def test_two_thousand_connections_at_once_are_all_answered(store: str) -> None:
    with crowded(store) as (run, port):
        body, headers = await echo_of(port)
        said = request(port, body, [*headers.items()])
        answers = await asyncio.gather(
            *(send_raw(port, said, seconds=SECONDS) for _ in range(CROWD))
        )
        assert [len(one) for one in answers] == [1] * CROWD
        assert {_outcome(one[0]) for one in answers} == {(200, True)}
        assert run.process.poll() is None
        assert run.err().count("Traceback") == 0


def _outcome(answer: Answer) -> tuple[int, bool]:
    return answer.status, "isError" not in json.loads(answer.body).get("result", {"isError": True})


async def test_two_thousand_callers_that_never_end_their_request_hold_up_nobody(
    store: str,
) -> None:
    with crowded(store) as (run, port):
        body, headers = await echo_of(port)
        said = request(port, body, [*headers.items()])
        stalling: list[asyncio.StreamWriter] = []
        for index in range(CROWD):
            _, writer = await asyncio.open_connection("127.0.0.1", port)
            # Some stop in the head, some in the body.
            writer.write(said[:40] if index % 2 else said[:-5])
            stalling.append(writer)
        for _ in range(20):
            (answer,) = await send_raw(port, said, seconds=5)
            assert _outcome(answer) == (200, True)
        for writer in stalling:
            writer.close()
        (answer,) = await send_raw(port, said, seconds=5)
        assert _outcome(answer) == (200, True)
        assert run.process.poll() is None
        assert run.err().count("Traceback") == 0
