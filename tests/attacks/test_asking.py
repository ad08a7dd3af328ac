"""A server that asks its caller's client more than it may: too often, too much, too late."""

import json
import sys
from collections.abc import Mapping
from typing import Any

import pytest
from tests.access.authority import Authority
from tests.attacks.serving import KEYS, behind_access
from tests.connect.servers.web import MODERN, OLD, Exchange, serve_web
from tests.connect.serving import RawClient, raw_client
from tests.gateway.asking import Person
from tests.gateway.serving import ERAS, serve
from tests.gateway.test_main_job import text

from sayso.connect import CommandTarget, UrlTarget
from sayso.connect.request_listener import MOST_QUESTIONS
from sayso.gateway import multi_round

pytestmark = pytest.mark.anyio

CAN = {"elicitation": {}, "roots": {}}
ADD: dict[str, Any] = {"name": "web__add_note", "arguments": {}}
QUESTION = {"jsonrpc": "2.0", "id": "q", "method": "roots/list", "params": {}}

FLOOD = """
import json, sys
def say(**told): print(json.dumps({"jsonrpc": "2.0", **told}), flush=True)
HINTS = {"readOnlyHint": True}
TOOL = {"name": "get_asked", "inputSchema": {"type": "object"}, "annotations": HINTS}
for line in sys.stdin:
    told = json.loads(line)
    number, method = told.get("id"), told.get("method")
    if method == "initialize":
        offers = {"tools": {}}
        say(id=number, result={"protocolVersion": "2025-11-25", "capabilities": offers,
            "serverInfo": {"name": "flood", "version": "1"}})
    elif method == "tools/list":
        say(id=number, result={"tools": [TOOL]})
    elif method == "tools/call":
        for one in range(5000):
            say(id=f"q{one}", method="roots/list", params={})
        answered = 0
        while answered < MOST:
            answered += "result" in json.loads(sys.stdin.readline())
        say(id=number, result={"content": [{"type": "text", "text": "done"}]})
    elif number is not None:
        say(id=number, error={"code": -32601, "message": "no"})
"""


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.process
async def test_a_server_that_floods_its_caller_with_questions_puts_so_many_and_no_more(
    era: str, store: str
) -> None:
    # A client of today comes back for each, and does so a few times only.
    answered = MOST_QUESTIONS if era == "legacy" else 5
    program = FLOOD.replace("MOST", str(answered))
    target = CommandTarget("flood", sys.executable, ("-c", program))
    person = Person()
    async with (
        serve(target, store=store) as served,
        person.client(served.url, era) as client,
    ):
        assert text(await client.call_tool("flood__get_asked")) == "done"
        assert answered <= len(person.asked) <= MOST_QUESTIONS
        again = Person()
        async with again.client(served.url, era) as other:
            assert text(await other.call_tool("flood__get_asked")) == "done"
        assert answered <= len(again.asked) <= MOST_QUESTIONS


def stream(exchange: Exchange, *messages: Mapping[str, Any]) -> None:
    told = "".join(f"data: {json.dumps(one)}\n\n" for one in messages)
    exchange.reply(200, told, "text/event-stream")


def asks_and_ends(exchange: Exchange) -> None:
    """A question and the answer to the call in one breath."""
    result = {"content": [{"type": "text", "text": "done"}], "resultType": "complete"}
    stream(exchange, QUESTION, {"jsonrpc": "2.0", "id": exchange.body["id"], "result": result})


@pytest.mark.parametrize("age", [OLD, MODERN])
@pytest.mark.parametrize("era", [OLD, MODERN])
async def test_a_question_that_comes_with_the_end_of_its_call_is_nobodys(
    era: str, age: str, store: str
) -> None:
    with serve_web(age, tools_call=asks_and_ends) as site:
        async with (
            serve(UrlTarget("web", site.url), store=store) as served,
            raw_client(served.url, era, capabilities=CAN) as client,
        ):
            for _ in range(5):
                (answer,) = await client.messages("tools/call", ADD)
                assert "isError" not in answer["result"]
            assert served.gateway.pending_calls.waiting == 0


def wants(count: int) -> Mapping[str, Any]:
    asked = {"method": "roots/list", "params": {}}
    return {
        "resultType": "input_required",
        "inputRequests": {str(one): asked for one in range(count)},
        "requestState": "s",
    }


@pytest.mark.parametrize("era", [OLD, MODERN])
async def test_a_server_that_wants_very_much_at_once_is_not_passed_on(era: str, store: str) -> None:
    many = wants(MOST_QUESTIONS + 1)
    with serve_web(MODERN, tools_call=lambda exchange: exchange.result({**many})) as site:
        async with (
            serve(UrlTarget("web", site.url), store=store) as served,
            raw_client(served.url, era, capabilities=CAN) as client,
        ):
            (answer,) = await client.messages("tools/call", ADD)
            assert answer["error"]["message"] == "the server “web” asks too often"
            assert len(site.asked("tools/call")) == 1
            assert served.gateway.pending_calls.waiting == 0


async def test_one_caller_does_not_take_the_place_of_all_others(
    authority: Authority, store: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(multi_round, "_MAX_CALLS_PER_CALLER", 2)
    with serve_web(MODERN, tools_call=lambda exchange: exchange.result({**wants(1)})) as site:
        async with behind_access(
            authority, UrlTarget("web", site.url), store=store, keys=KEYS
        ) as place:
            for subject in ("eve", "amy"):
                token = {"authorization": f"Bearer {place.token(subject)}"}
                async with raw_client(place.url, MODERN, capabilities=CAN, **token) as client:
                    told = [await once(client, number) for number in range(3)]
                assert told[:2] == ["input_required"] * 2, subject
                assert told[2] == "too many calls wait for their clients", subject


async def once(client: RawClient, number: int) -> str:
    answer = await client.ask("tools/call", {**ADD, "arguments": {"number": number}})
    return answer["result"]["resultType"] if "result" in answer else answer["error"]["message"]
