"""The rounds of a client of 2026-07-28: each state is good once, for its call and its caller."""

import json
import threading
from collections.abc import AsyncGenerator, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
import pytest
from tests.connect.servers.web import MODERN, OLD, Exchange, serve_web
from tests.connect.serving import RawClient, raw_client, until
from tests.gateway.asking import Person, asking_server
from tests.gateway.serving import ERAS, Served, serve
from tests.gateway.test_main_job import answer, events, text

from sayso.connect import UrlTarget
from sayso.keys import Keyring
from sayso.policy import load_policy

pytestmark = pytest.mark.anyio

KEYS = Keyring.of([b"k" * 32])
CAN = {"elicitation": {}, "roots": {}}
NAME = {"io.sayso/approval": {"action": "accept", "content": {"name": "Amy"}}}
RELAYED = load_policy('[approvals]\nchannels = ["elicitation"]')


@pytest.fixture(params=["old", "new"])
def age(request: pytest.FixtureRequest) -> str:
    """Return whether the server is of the handshake eras."""
    return request.param


@pytest.fixture
async def stack() -> AsyncGenerator[AsyncExitStack]:
    async with AsyncExitStack() as stack:
        yield stack


@pytest.fixture
async def served(age: str, stack: AsyncExitStack, tmp_path: Path) -> Served:
    target = await stack.enter_async_context(asking_server("http", is_old=age == "old"))
    return await stack.enter_async_context(serve(target, store=tmp_path / "a.db", keys=KEYS))


@pytest.fixture
async def client(served: Served, stack: AsyncExitStack) -> RawClient:
    return await stack.enter_async_context(raw_client(served.url, MODERN, capabilities=CAN))


CALL: dict[str, Any] = {"name": "asking__ask_name", "arguments": {}}


async def begun(client: RawClient, call: dict[str, Any] = CALL) -> dict[str, Any]:
    """The first round: the same call, as it is to be made again."""
    asked = await client.result("tools/call", call)
    assert asked["resultType"] == "input_required"
    (key,) = asked["inputRequests"]
    return {
        **call,
        "requestState": asked["requestState"],
        "inputResponses": {key: NAME["io.sayso/approval"]},
    }


async def refused(client: RawClient, call: dict[str, Any]) -> str:
    message = await client.ask("tools/call", call)
    assert message["error"]["code"] == -32602
    return message["error"]["message"]


async def carried_out(client: RawClient) -> str:
    return (await client.call("asking__count"))["content"][0]["text"]


async def test_an_answer_that_arrives_twice_is_taken_once(client: RawClient) -> None:
    again = await begun(client)

    first = await client.result("tools/call", again)

    assert first["content"][0]["text"] == "accept:Amy"
    assert await refused(client, again) == "requestState was used before, or has expired"
    assert await carried_out(client) == "ask_name"


async def test_of_two_answers_at_the_same_time_one_is_taken(client: RawClient) -> None:
    again = await begun(client)
    messages: list[dict[str, Any]] = []

    async def send() -> None:
        messages.append(await client.ask("tools/call", again))

    async with anyio.create_task_group() as group:
        for _ in range(5):
            group.start_soon(send)

    assert sorted("error" in one for one in messages) == [False, True, True, True, True]
    assert await carried_out(client) == "ask_name"


@pytest.mark.parametrize(
    "change",
    [
        {"arguments": {"a": 1}},
        {"name": "asking__ask_twice"},
        {"requestState": "round.0.00"},
        {"requestState": "round."},
    ],
    ids=str,
)
async def test_a_state_of_another_call_and_a_forged_one_are_refused(
    client: RawClient, change: dict[str, Any]
) -> None:
    again = await begun(client)

    said = await refused(client, {**again, **change})

    assert said == "requestState belongs to another call or another caller"
    assert (await client.result("tools/call", again))["content"][0]["text"] == "accept:Amy"


async def test_a_state_that_another_client_brings_is_refused(client: RawClient) -> None:
    again = await begun(client)
    client.name = "mallory"

    assert "another caller" in await refused(client, again)


async def test_a_state_of_another_method_is_refused(client: RawClient) -> None:
    again = await begun(client)
    params = {"name": "asking__ask_prompt", "requestState": again["requestState"]}

    message = await client.ask("prompts/get", params)

    assert "another call" in message["error"]["message"]


async def test_a_state_expires(served: Served, client: RawClient) -> None:
    again = await begun(client)
    now = served.gateway.pending_calls.clock()
    served.gateway.pending_calls.clock = lambda: now + 601

    assert "has expired" in await refused(client, again)


async def test_an_answer_that_lacks_something_leaves_the_question_open(client: RawClient) -> None:
    again = await begun(client)

    lacking = await client.ask("tools/call", {**again, "inputResponses": {"else": {}}})

    assert "inputResponses lacks" in lacking["error"]["message"]
    assert (await client.result("tools/call", again))["content"][0]["text"] == "accept:Amy"


async def test_answers_that_nobody_asked_for_reach_no_server(client: RawClient) -> None:
    asked = await client.result("tools/call", {**CALL, "inputResponses": NAME})

    assert asked["resultType"] == "input_required"
    assert await carried_out(client) == ""


async def test_the_state_of_a_server_never_leaves_the_gateway(client: RawClient) -> None:
    asked = await client.result("tools/call", CALL)

    assert asked["requestState"].startswith("round.")
    assert "upstream" not in asked["requestState"]


async def test_a_call_whose_gateway_was_started_anew_ends_as_unknown(
    client: RawClient, age: str, stack: AsyncExitStack, tmp_path: Path
) -> None:
    again = await begun(client)
    target = await stack.enter_async_context(asking_server("http", is_old=age == "old"))
    other = await stack.enter_async_context(serve(target, store=tmp_path / "b.db", keys=KEYS))
    client.url = other.url

    lost = await client.result("tools/call", again)

    assert lost["isError"] is True
    assert lost["_meta"]["io.sayso/outcome"] == "outcome_unknown"
    assert await carried_out(client) == ""


async def test_a_client_that_never_comes_back_leaves_a_record(
    age: str, tmp_path: Path, stack: AsyncExitStack
) -> None:
    target = await stack.enter_async_context(asking_server("http", is_old=age == "old"))
    async with serve(target, store=tmp_path / "a.db", keys=KEYS) as served:
        async with raw_client(served.url, MODERN, capabilities=CAN) as client:
            await begun(client)
        gateway = served.gateway
        await gateway.pending_calls.close()
        assert await events(served) == [("attempt", None), ("outcome", "outcome_unknown")]


@pytest.mark.parametrize("limit", ["_MAX_CALLS"])
async def test_too_many_calls_that_wait_are_told_so(
    client: RawClient, monkeypatch: pytest.MonkeyPatch, age: str, limit: str
) -> None:
    from sayso.gateway import multi_round

    monkeypatch.setattr(multi_round, limit, 1)
    again = await begun(client)
    message = await client.ask("tools/call", {**CALL, "arguments": {"other": 1}})

    # An old server gets the error, and decides what to do.
    told = message["result"]["content"][0]["text"] if age == "old" else message["error"]["message"]
    assert "too many calls wait" in told or "several clients" in told
    await client.result("tools/call", again)


@pytest.mark.parametrize("era", ERAS)
async def test_a_person_approves_once_and_then_answers_the_server(
    era: str, age: str, stack: AsyncExitStack, tmp_path: Path
) -> None:
    target = await stack.enter_async_context(asking_server("http", is_old=age == "old"))
    served = await stack.enter_async_context(serve(target, store=tmp_path / "a.db", keys=KEYS))
    person = Person()
    results: list[Any] = []
    client = await stack.enter_async_context(person.client(served.url, era))

    async def call() -> None:
        results.append(await client.call_tool("asking__delete_after_asking"))

    group = await stack.enter_async_context(anyio.create_task_group())
    group.start_soon(call)
    approval = await answer(served, is_allowed=True)
    await until(lambda: bool(results))

    assert text(results[0]) == "accept:Amy"
    # sayso leads the person to its page, if there is time, and then the server asks, once.
    *led, asked = [one.message for one in person.asked]
    assert len(led) <= 1
    assert asked == "The server “asking” asks: What is your name?"
    (used,) = await served.gateway.guard.approvals.newest()
    assert (used.number, used.state) == (approval.number, "used")
    happened = await events(served)
    assert [one for one, _ in happened].count("attempt") == 1
    assert happened[-1] == ("outcome", "ok")


class Approver(Person):
    """Says yes to sayso, and a name to servers."""

    async def elicit(
        self,
        context: Any,  # noqa: ARG002 - as the SDK calls it
        params: types.ElicitRequestParams,
    ) -> types.ElicitResult:
        self.asked.append(params)
        is_sayso = "approve" in json.dumps(params.model_dump(mode="json", by_alias=True))
        return types.ElicitResult(
            action="accept", content={"approve": True} if is_sayso else {"name": "Amy"}
        )


@pytest.mark.parametrize("era", ERAS)
async def test_saysos_own_question_and_the_servers_are_kept_apart(
    era: str, age: str, stack: AsyncExitStack, tmp_path: Path
) -> None:
    """The server calls its question by the name that sayso's has."""
    target = await stack.enter_async_context(asking_server("http", is_old=age == "old"))
    serving = serve(target, store=tmp_path / "a.db", keys=KEYS, policy=lambda: RELAYED)
    served = await stack.enter_async_context(serving)
    person = Approver()
    client = await stack.enter_async_context(person.client(served.url, era))

    result = await client.call_tool("asking__delete_after_asking")

    assert text(result) == "accept:Amy"
    assert len(person.asked) == 2
    assert len(await served.gateway.guard.approvals.newest()) == 1
    assert [one for one, _ in await events(served)].count("attempt") == 1


async def test_a_call_that_ends_before_its_answer_comes_keeps_its_result_for_the_client(
    stack: AsyncExitStack, tmp_path: Path
) -> None:
    """A server may go on without the answer; what it did then must not look like a failure."""
    target = await stack.enter_async_context(asking_server("http", is_old=True))
    served = await stack.enter_async_context(serve(target, store=tmp_path / "a.db", keys=KEYS))
    opening = raw_client(served.url, MODERN, capabilities=CAN)
    client = await stack.enter_async_context(opening)
    again = await begun(client, {"name": "asking__ask_impatiently", "arguments": {}})
    with anyio.fail_after(60):
        while [*await events(served)][-1] != ("outcome", "ok"):
            await anyio.sleep(0.005)

    result = await client.result("tools/call", again)

    assert result["content"][0]["text"] == "went on"
    assert "used before" in await refused(client, again)
    assert await carried_out(client) == "ask_impatiently"


@pytest.mark.process
async def test_over_stdio_a_question_is_refused_while_calls_of_several_clients_run(
    stack: AsyncExitStack, tmp_path: Path
) -> None:
    target = await stack.enter_async_context(asking_server("stdio", is_old=True))
    served = await stack.enter_async_context(serve(target, store=tmp_path / "a.db", keys=KEYS))
    opening = raw_client(served.url, MODERN, capabilities=CAN)
    client = await stack.enter_async_context(opening)
    other = await stack.enter_async_context(raw_client(served.url, OLD))
    hanging = await other.open(
        "tools/call", {"name": "asking__hang", "_meta": {"progressToken": 1}}
    )
    asked = await client.result("tools/call", CALL)
    await hanging.close()

    assert "calls of several clients run" in asked["content"][0]["text"]


async def test_an_answer_of_another_session_is_nobodys(
    served: Served, stack: AsyncExitStack
) -> None:
    mine = await stack.enter_async_context(raw_client(served.url, OLD, capabilities=CAN))
    other = await stack.enter_async_context(raw_client(served.url, OLD, capabilities=CAN))
    stream = await mine.open("tools/call", CALL)
    question = await stream.next()
    assert question["method"] == "elicitation/create"
    theirs = {"action": "accept", "content": {"name": "Mallory"}}

    await other.tell(id=question["id"], result=theirs)
    await mine.tell(id=7, result=theirs)
    await mine.tell(id=question["id"], result=NAME["io.sayso/approval"])
    await mine.tell(id=question["id"], result=theirs)

    result = await stream.next()
    assert result["result"]["content"][0]["text"] == "accept:Amy"
    await stream.close()


async def test_an_answer_after_the_call_was_cancelled_is_nobodys(
    served: Served, stack: AsyncExitStack, age: str
) -> None:
    mine = await stack.enter_async_context(raw_client(served.url, OLD, capabilities=CAN))
    stream = await mine.open("tools/call", CALL)
    question = await stream.next()

    await mine.tell(method="notifications/cancelled", params={"requestId": 7})
    withdrawn = await stream.next()
    rest = [line async for line in stream.lines]
    late = await mine.tell(id=question["id"], result=NAME["io.sayso/approval"])

    assert withdrawn["method"] == "notifications/cancelled"
    assert withdrawn["params"] == {"requestId": question["id"]}
    assert not any(line.startswith("data:") for line in rest)
    assert late.status_code == 202
    await stream.close()
    with anyio.fail_after(60):
        while [*await events(served)][-1] != ("outcome", "outcome_unknown"):
            await anyio.sleep(0.005)
    if age == "new":
        assert await carried_out(mine) == ""


def gives_up(go_on: threading.Event) -> Callable[[Exchange], None]:
    """Asks, and then ends the call without waiting for the answer."""

    def answer(exchange: Exchange) -> None:
        asked = {"jsonrpc": "2.0", "id": "q", "method": "roots/list", "params": {}}
        result = {"content": [{"type": "text", "text": "done"}]}
        ended = {"jsonrpc": "2.0", "id": exchange.body["id"], "result": result}
        events = [f"data: {json.dumps(one)}\n\n".encode() for one in (asked, ended)]
        exchange.begin(200, "text/event-stream", sum(map(len, events)))
        exchange.handler.wfile.write(events[0])
        go_on.wait(60)
        exchange.handler.wfile.write(events[1])

    return answer


async def test_a_call_that_ends_while_its_client_is_away_is_told_once_it_comes(
    stack: AsyncExitStack, tmp_path: Path
) -> None:
    go_on = threading.Event()
    site = stack.enter_context(serve_web(OLD, tools_call=gives_up(go_on)))
    target = UrlTarget("web", site.url)
    served = await stack.enter_async_context(serve(target, store=tmp_path / "a.db", keys=KEYS))
    opening = raw_client(served.url, MODERN, capabilities=CAN)
    client = await stack.enter_async_context(opening)
    call = {"name": "web__add_note", "arguments": {}}
    asked = await client.result("tools/call", call)
    go_on.set()
    with anyio.fail_after(60):
        while ("outcome", "ok") not in await events(served):
            await anyio.sleep(0.005)
    (key,) = asked["inputRequests"]
    again = {
        **call,
        "requestState": asked["requestState"],
        "inputResponses": {key: {"roots": []}},
    }

    result = await client.result("tools/call", again)

    assert result["content"][0]["text"] == "done"
    assert "used before" in await refused(client, again)
    assert served.gateway.pending_calls.waiting == 0
    assert len(site.asked("tools/call")) == 1
