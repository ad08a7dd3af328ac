"""Receivers of a server's notifications and questions."""

import asyncio
import json
from collections.abc import Coroutine, Mapping
from contextlib import suppress
from typing import Any

import pytest

from sayso.alarm import Alarm
from sayso.connect.inbox import Inbox
from sayso.connect.message import Message, read_message
from sayso.connect.request_listener import MOST_QUESTIONS, Deadline, RequestListener
from sayso.connect.rpc import RpcError

pytestmark = pytest.mark.anyio

LONG = 30.0


def message(method: str, params: Any = None, number: int | None = None) -> Message:
    said: dict[str, Any] = {"jsonrpc": "2.0", "method": method}
    said |= {} if params is None else {"params": params}
    said |= {} if number is None else {"id": number}
    return read_message(json.dumps(said).encode())


class Client:
    """Answers when it is told to, and keeps what it hears."""

    def __init__(self) -> None:
        self.heard: list[str] = []
        self.asked = asyncio.Event()
        self.may_answer = asyncio.Event()
        self.was_cancelled = False

    def listener(self) -> RequestListener:
        return RequestListener(self, {}, self.answer, self.hear)

    async def hear(self, method: str, _params: Mapping[str, Any]) -> None:
        self.heard.append(method)

    async def answer(self, method: str, _params: Mapping[str, Any]) -> Mapping[str, Any]:
        self.asked.set()
        try:
            await self.may_answer.wait()
        except asyncio.CancelledError:
            self.was_cancelled = True
            raise
        return {"method": method}


async def result(
    inbox: Inbox, asked: Message, listener: RequestListener | None = None
) -> dict[str, Any]:
    return json.loads(await inbox.answer(asked, listener))


async def test_while_something_is_asked_the_time_stands_still() -> None:
    inbox, client = Inbox(), Client()
    listener = client.listener()
    answers: list[bytes] = []

    async def ask() -> None:
        with Deadline(Alarm(0.05)) as limit, inbox.hearing(listener, limit):
            asking = asyncio.create_task(inbox.answer(message("roots/list", number=1)))
            await client.asked.wait()
            await asyncio.sleep(0.1)
            client.may_answer.set()
            answers.append(await asking)
            await asyncio.sleep(LONG)

    with pytest.raises(TimeoutError):
        await ask()
    assert b"result" in answers[0]


async def test_of_two_questions_the_last_answer_lets_the_time_go_on() -> None:
    inbox, client = Inbox(), Client()
    begun: list[int] = []

    class Counted(Deadline):
        def go_on(self) -> None:
            begun.append(len(client.heard))
            super().go_on()

    with Counted(Alarm(LONG)) as limit, inbox.hearing(client.listener(), limit):
        asking = [
            asyncio.create_task(inbox.answer(message("roots/list", number=one))) for one in (1, 2)
        ]
        await client.asked.wait()
        client.may_answer.set()
        await asyncio.gather(*asking)

    assert len(begun) == 2  # when it began, and after the second answer


async def test_a_question_ends_with_the_request_that_it_was_about() -> None:
    inbox, client = Inbox(), Client()
    with Deadline(Alarm(LONG)) as limit:
        with inbox.hearing(client.listener(), limit):
            asking = asyncio.create_task(inbox.answer(message("roots/list", number=1)))
            await client.asked.wait()
        answer = json.loads(await asking)

    assert client.was_cancelled
    assert answer["error"]["message"] == "the call that roots/list was about is over"


async def test_a_question_outlasts_one_of_two_requests_that_it_may_be_about() -> None:
    inbox, client = Inbox(), Client()
    with Deadline(Alarm(LONG)) as limit, inbox.hearing(client.listener(), limit):
        with inbox.hearing(client.listener(), limit):
            asking = asyncio.create_task(inbox.answer(message("roots/list", number=1)))
            await client.asked.wait()
        client.may_answer.set()
        answer = json.loads(await asking)

    assert answer["result"] == {"method": "roots/list"}


async def test_a_question_that_its_server_withdraws_is_not_answered() -> None:
    inbox, client = Inbox(), Client()
    with Deadline(Alarm(LONG)) as limit, inbox.hearing(client.listener(), limit):
        asking = asyncio.create_task(inbox.answer(message("roots/list", number=1)))
        await client.asked.wait()
        for number in (2, None, [1]):
            await inbox.notify(message("notifications/cancelled", {"requestId": number}))
        assert not client.was_cancelled
        await inbox.notify(message("notifications/cancelled", {"requestId": 1}))
        with pytest.raises(asyncio.CancelledError):
            await asking

    assert client.was_cancelled


async def test_without_a_request_there_is_nobody_to_ask() -> None:
    answer = await result(Inbox(), message("roots/list", number=1))

    assert answer["error"]["message"] == "sayso does not offer roots/list"


async def test_where_several_clients_wait_nobody_is_asked_or_told() -> None:
    inbox, one, other = Inbox(), Client(), Client()
    log = message("notifications/message", {"data": "secret"})
    limit = Deadline(Alarm(LONG))
    with limit, inbox.hearing(one.listener(), limit), inbox.hearing(other.listener(), limit):
        answer = await result(inbox, message("roots/list", number=1))
        await inbox.notify(log)

    assert "so its call is ambiguous" in answer["error"]["message"]
    assert (one.heard, other.heard) == ([], [])


async def test_what_comes_on_the_stream_of_a_request_is_for_its_client() -> None:
    inbox, one, other = Inbox(), Client(), Client()
    mine = one.listener()
    one.may_answer.set()
    limit = Deadline(Alarm(LONG))
    with limit, inbox.hearing(mine, limit), inbox.hearing(other.listener(), limit):
        answer = await result(inbox, message("roots/list", number=1), mine)
        await inbox.notify(message("notifications/message", {}), mine)

    assert "result" in answer
    assert (one.heard, other.heard) == (["notifications/message"], [])


async def test_a_change_is_for_all_on_whatever_stream_it_comes() -> None:
    everybody, client = Client(), Client()
    inbox = Inbox(everybody.hear)
    for method in ("notifications/tools/list_changed", "notifications/resources/updated"):
        await inbox.notify(message(method, {}), client.listener())

    assert len(everybody.heard) == 2
    assert client.heard == []


async def test_a_ping_is_always_answered() -> None:
    assert (await result(Inbox(), message("ping", number=1)))["result"] == {}


async def test_what_cannot_be_read_is_nobodys_and_gets_an_error() -> None:
    everybody = Client()
    inbox = Inbox(everybody.hear)

    await inbox.notify(message("notifications/message", [1]))
    await inbox.notify(message("notifications/message", {"data": "x" * 300_000}))
    answer = await result(inbox, message("roots/list", [1], number=1))

    assert everybody.heard == []
    assert answer["error"]["code"] == -32603


async def test_the_error_of_a_client_is_passed_on() -> None:
    async def refuse(_method: str, _params: Mapping[str, Any]) -> Mapping[str, Any]:
        raise RpcError(-1, "rejected by the person", {"why": 1})

    inbox = Inbox()
    with (
        Deadline(Alarm(LONG)) as limit,
        inbox.hearing(RequestListener(object(), {}, refuse), limit),
    ):
        await inbox.notify(message("notifications/message", {}))
        answer = await result(inbox, message("roots/list", number=1))

    assert answer["error"] == {"code": -1, "message": "rejected by the person", "data": {"why": 1}}


async def test_an_answer_that_comes_when_the_time_is_up_changes_nothing() -> None:
    inbox, client = Inbox(), Client()
    listener = client.listener()
    client.may_answer.set()
    answer: dict[str, Any] = {}
    with suppress(TimeoutError), Deadline(Alarm(0.01)) as limit, inbox.hearing(listener, limit):
        try:
            await asyncio.sleep(LONG)
        finally:
            answer = await result(inbox, message("roots/list", number=1), listener)

    assert "result" in answer
    assert limit.is_over


async def test_nobody_is_asked_about_a_request_that_is_over() -> None:
    inbox, client, other = Inbox(), Client(), Client()
    listener = client.listener()
    for one in (client, other):
        one.may_answer.set()
    with Deadline(Alarm(LONG)) as limit:
        with inbox.hearing(listener, limit):
            pass
        with inbox.hearing(other.listener(), limit):
            answer = await result(inbox, message("roots/list", number=1), listener)

    assert answer["error"]["message"] == "the call that roots/list was about is over"
    assert not client.asked.is_set()
    assert not other.asked.is_set()


async def test_a_server_asks_so_often_about_one_request_and_no_more() -> None:
    inbox, client = Inbox(), Client()
    client.may_answer.set()
    with Deadline(Alarm(LONG)) as limit:
        with inbox.hearing(client.listener(), limit):
            said = [
                await result(inbox, message("roots/list", number=one))
                for one in range(MOST_QUESTIONS + 5)
            ]
        with inbox.hearing(client.listener(), limit):
            assert "result" in await result(inbox, message("roots/list", number=1))

    assert ["result" in one for one in said] == [True] * MOST_QUESTIONS + [False] * 5
    assert said[-1]["error"]["message"] == "roots/list is refused: this call has asked too often"


async def test_of_very_many_requests_at_once_the_last_are_dropped() -> None:
    inbox, go_on = Inbox(), asyncio.Event()
    begun = 0

    async def work() -> None:
        nonlocal begun
        begun += 1
        await go_on.wait()

    def spawn(one: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        return asyncio.ensure_future(one)

    for _ in range(10_000):
        inbox.run_answer(spawn, work())
    await asyncio.sleep(0.01)
    assert begun == 128
    go_on.set()
    await asyncio.sleep(0.01)
    inbox.run_answer(spawn, work())
    await asyncio.sleep(0.01)
    assert begun == 129
