"""Two processes of one gateway: what goes on in one of them is reached through the other."""

import asyncio
import socket
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import httpx2
import msgspec
import pytest
from tests.connect.servers.web import MODERN
from tests.connect.serving import raw_client, serve_app, until
from tests.databases import Place
from tests.gateway.asking import asking_server
from tests.replicas.serving import journal_target

from sayso.connect import CommandTarget, UrlTarget
from sayso.errors import KeysError
from sayso.gateway import make_app, open_gateway
from sayso.gateway.app import Gateway
from sayso.gateway.cluster_calls import ClusterCalls, Reached
from sayso.gateway.replicas import open_replicas
from sayso.keys import Keyring
from sayso.policy import load_policy
from sayso.store import Database, ReplicaRow, open_store

pytestmark = pytest.mark.anyio

KEYS = Keyring.of([b"k" * 32])
BOTH = {"accept": "application/json, text/event-stream"}
JSON = {"accept": "application/json"}
ASKED = '[approvals]\nchannels = ["elicitation"]\n'


@dataclass
class Replica:
    """One of them, and its own address."""

    gateway: Gateway
    url: str


@asynccontextmanager
async def replica(
    store: Database, served: Path | UrlTarget | CommandTarget, keys: Keyring = KEYS
) -> AsyncGenerator[Replica]:
    policy = load_policy(ASKED, "policy.toml")
    target = journal_target(served) if isinstance(served, Path) else served
    async with AsyncExitStack() as stack:
        listener = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        post = await stack.enter_async_context(
            open_replicas(store.replicas, keys, listener, "127.0.0.1")
        )
        gateway = await stack.enter_async_context(
            open_gateway([target], store, keys=keys, replica_client=post, policy=lambda: policy)
        )
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        app = make_app(gateway, f"http://127.0.0.1:{port}")
        base = await stack.enter_async_context(serve_app(app, port))
        yield Replica(gateway, f"{base}/mcp")


@dataclass
class Pair:
    """Two of them, and a session of the handshake era that both know."""

    here: Replica
    there: Replica
    http: httpx2.AsyncClient
    journal: Path

    async def post(self, to: Replica, body: Mapping[str, Any]) -> httpx2.Response:
        return await self.http.post(to.url, json={"jsonrpc": "2.0", **body}, headers=BOTH)

    @asynccontextmanager
    async def calling(
        self, tool: str, *, accept: Mapping[str, str] = BOTH, **arguments: Any
    ) -> AsyncGenerator[httpx2.Response]:
        """A call that goes on at `here`."""
        params = {"name": f"journal__{tool}", "arguments": arguments}
        body = {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params}
        async with self.http.stream("POST", self.here.url, json=body, headers=accept) as response:
            yield response

    @asynccontextmanager
    async def answered(self, tool: str, **more: Any) -> AsyncGenerator[list[str]]:
        """Make a call in the background; its answer is there when this is left."""
        answers: list[str] = []

        async def call() -> None:
            async with self.calling(tool, **more) as response:
                answers.append((await response.aread()).decode())

        async with anyio.create_task_group() as group:
            group.start_soon(call)
            yield answers

    def ran(self) -> list[str]:
        return self.journal.read_text().split()


@pytest.fixture
async def pair(place: Place, tmp_path: Path) -> AsyncIterator[Pair]:
    stores = [open_store(place.url) for _ in range(2)]
    journal = tmp_path / "journal"
    journal.touch()
    async with replica(stores[0], journal) as here, replica(stores[1], journal) as there:
        await presence(here).look()
        async with httpx2.AsyncClient(timeout=20, trust_env=False) as http:
            hello = {
                "protocolVersion": "2025-11-25",
                "capabilities": {"elicitation": {}},
                "clientInfo": {"name": "a", "version": "1"},
            }
            pair = Pair(here, there, http, journal)
            said = await pair.post(here, {"id": 1, "method": "initialize", "params": hello})
            http.headers["mcp-session-id"] = said.headers["mcp-session-id"]
            yield pair
    for store in stores:
        await store.close()


def presence(one: Replica) -> Any:
    return one.gateway.replica_client.presence


async def messages(response: httpx2.Response) -> AsyncIterator[dict[str, Any]]:
    async for line in response.aiter_lines():
        if line.startswith("data: "):
            yield msgspec.json.decode(line.removeprefix("data: "))


def yes_to(asked: Mapping[str, Any]) -> dict[str, Any]:
    """The answer of a client whose person agrees to whatever is asked."""
    schema = asked["params"]["requestedSchema"]
    content: dict[str, Any] = {}
    for key, one in schema["properties"].items():
        kinds = one.get("enum") or [each["const"] for each in one.get("oneOf", ())]
        content[key] = kinds[0] if kinds else True
    return {"id": asked["id"], "result": {"action": "accept", "content": content}}


async def test_an_answer_reaches_the_process_that_asked(pair: Pair) -> None:
    with anyio.fail_after(60):
        async with pair.calling("drop", number=1) as response:
            said = messages(response)
            asked = await anext(said)
            while asked.get("method") != "elicitation/create":
                asked = await anext(said)
            assert (await pair.post(pair.there, yes_to(asked))).status_code == 202
            async for last in said:
                asked = last

    assert asked["id"] == 7
    assert not asked["result"].get("isError"), asked
    assert pair.ran() == ["1"]


async def test_a_question_reaches_the_stream_that_another_process_holds(pair: Pair) -> None:
    # This client takes no stream as an answer, so it can only be asked on its other one.
    with anyio.fail_after(60):
        async with (
            pair.http.stream("GET", pair.there.url, headers=BOTH) as stream,
            pair.answered("drop", accept=JSON, number=2) as answers,
        ):
            asked = await anext(messages(stream))
            assert (await pair.post(pair.there, yes_to(asked))).status_code == 202

    assert '"result"' in answers[0]
    assert "isError" not in answers[0] or '"isError":false' in answers[0]
    assert pair.ran() == ["2"]


async def test_a_request_is_cancelled_wherever_it_runs(pair: Pair) -> None:
    with anyio.fail_after(60):
        async with pair.answered("append", number=3, seconds=60) as answers:
            await until(lambda: pair.ran() == ["3"])
            gone = {"method": "notifications/cancelled", "params": {"requestId": 7}}
            assert (await pair.post(pair.there, gone)).status_code == 202

    assert answers == [""]


async def test_a_person_stops_a_call_wherever_it_runs(pair: Pair) -> None:
    here, there = (
        ClusterCalls(one.gateway.guard.active_calls, one.gateway.replica_client)
        for one in (pair.here, pair.there)
    )
    with anyio.fail_after(60):
        async with pair.answered("append", accept=JSON, number=4, seconds=60) as answers:
            await until(lambda: pair.ran() == ["4"])
            (row, *_) = await pair.here.gateway.guard.audit.newest()
            await presence(pair.there).look()
            assert await there.find(row.call) == Reached(None, None, None)
            assert await there.stop(row.call, by="ann") is True
            assert await there.stop(row.call, by="ann") is False

    assert "A person stopped this call" in answers[0]
    assert await here.find(row.call) is None


async def test_a_session_that_ended_has_ended_everywhere(pair: Pair) -> None:
    assert (await pair.http.delete(pair.there.url)).status_code == 200

    said = await pair.post(pair.here, {"id": 2, "method": "ping"})

    assert said.status_code == 404


async def test_a_session_that_one_has_begun_goes_on_at_another(pair: Pair) -> None:
    with anyio.fail_after(60):
        # The other gateway starts its server now, and lists what has started after five seconds.
        tools: list[Any] = []
        while not tools:
            said = await pair.post(pair.there, {"id": 2, "method": "tools/list"})
            tools = said.json()["result"]["tools"]

    assert len(tools) == 3


async def test_an_answer_for_a_process_that_is_gone_is_told_so(pair: Pair, place: Place) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        address = f"127.0.0.1:{free.getsockname()[1]}"
    store = open_store(place.url)
    await store.replicas.beat(ReplicaRow("killed", address, " ".join(KEYS.ids)), seconds=60)
    await store.close()

    for number in ("killed-0123", "never-0123"):
        with anyio.fail_after(60):
            said = await pair.post(pair.there, {"id": number, "result": {"action": "accept"}})

        assert said.status_code == 410
        assert "outcome_unknown" in said.json()["error"]["message"]
        assert "may have run or not" in said.json()["error"]["message"]


LIES: dict[str, bytes | None] = {
    "hangs": None,
    "hangs up": b"",
    "talks nonsense": b"nonsense\n",
    "does not end": b"x" * 1_000_000,
}


@pytest.mark.parametrize("lie", [*LIES, "has no port", "is nowhere"])
async def test_a_row_that_lies_of_where_a_process_is_costs_a_moment_and_tells_nothing(
    pair: Pair, place: Place, lie: str
) -> None:
    heard: list[bytes] = []
    talks: list[asyncio.StreamWriter] = []

    async def take(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        talks.append(writer)
        heard.append(await reader.readline())
        said = LIES[lie]
        if said is None:
            await asyncio.sleep(600)
        with suppress(ConnectionError):
            # An endless line is refused before it fills the memory.
            for _ in range(40 if lie == "does not end" else 1):
                writer.write(said or b"")
                await writer.drain()
            writer.close()
            await writer.wait_closed()

    server = await asyncio.start_server(take, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    address = {"has no port": "nonsense", "is nowhere": "[::ffff:0:0]:1"}.get(lie)
    store = open_store(place.url)
    row = ReplicaRow("liar", address or f"127.0.0.1:{port}", " ".join(KEYS.ids))
    await store.replicas.beat(row, seconds=60)
    await store.close()

    answer = {"id": "liar-0123", "result": {"action": "accept", "content": {"word": "hunter2"}}}
    with anyio.fail_after(60):
        said = await pair.post(pair.there, answer)

    assert said.status_code == 410
    assert (await pair.post(pair.there, {"id": 2, "method": "ping"})).status_code == 200
    assert b"hunter2" not in b"".join(heard)
    server.close()
    for one in talks:
        one.transport.abort()


async def test_an_answer_that_nobody_asked_for_is_dropped(pair: Pair) -> None:
    name = pair.here.gateway.replica_client.name
    for number in ("x", f"{name}-0123", 5):
        said = await pair.post(pair.there, {"id": number, "result": {}})
        assert said.status_code == 202


async def test_who_cannot_read_what_the_others_sign_does_not_begin(
    pair: Pair, place: Place, tmp_path: Path
) -> None:
    store = open_store(place.url)
    try:
        with pytest.raises(KeysError, match="other keys") as told:
            async with replica(store, tmp_path / "journal", Keyring.of([b"o" * 32])):
                pytest.fail("it began")
    finally:
        await store.close()

    assert "SAYSO_KEYS" in str(told.value.fix)
    assert await presence(pair.here).others() == [pair.there.gateway.replica_client.name]


@pytest.mark.usefixtures("pair")
async def test_a_new_key_comes_in_two_steps(place: Place, tmp_path: Path) -> None:
    old, new = b"k" * 32, b"n" * 32
    store = open_store(place.url)
    try:
        async with replica(store, tmp_path / "journal", Keyring.of([old, new])):
            pass
        with pytest.raises(KeysError):
            async with replica(store, tmp_path / "journal", Keyring.of([new, old])):
                pytest.fail("the others do not know this key yet")
    finally:
        await store.close()


CAN: dict[str, Any] = {"elicitation": {}}
NAME = {"1": {"action": "accept", "content": {"name": "Amy"}}}


@pytest.mark.parametrize("is_there", [True, False])
async def test_a_round_is_brought_to_the_process_that_holds_its_call(
    place: Place, *, is_there: bool
) -> None:
    stores = [open_store(place.url) for _ in range(2)]
    async with AsyncExitStack() as stack:
        for store in stores:
            stack.push_async_callback(store.close)
        servers = [
            await stack.enter_async_context(asking_server("http", is_old=True)) for _ in stores
        ]
        there = await stack.enter_async_context(replica(stores[1], servers[1]))
        async with replica(stores[0], servers[0]) as here:
            opening = raw_client(here.url, MODERN, capabilities=CAN)
            client = await stack.enter_async_context(opening)
            call = {"name": "asking__ask_name", "arguments": {}}
            asked = await client.result("tools/call", call)
            again = {**call, "requestState": asked["requestState"], "inputResponses": NAME}
            await presence(there).look()
            client.url = there.url
            if is_there:
                result = await client.result("tools/call", again)
                used = await client.ask("tools/call", again)
                assert result["content"][0]["text"] == "accept:Amy"
                assert "used before" in used["error"]["message"]
                return
        lost = await client.result("tools/call", again)
        assert lost["_meta"]["io.sayso/outcome"] == "outcome_unknown"
