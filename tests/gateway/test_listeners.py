"""Listeners and their number: an absent client takes no place of another."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.connect.servers.web import MODERN
from tests.connect.serving import faulty, raw_client
from tests.gateway.serving import serve

from sayso.gateway.frontends.sessions import Session, Sessions, open_stream
from sayso.gateway.notifications import LOGGED, UPDATED, Backlog, Listener, Notifier

ALL = 11_000


def test_sessions_that_nobody_comes_back_to_leave_room_for_others() -> None:
    notifier = Notifier()
    sessions = Sessions(notifier=notifier)
    for number in range(ALL):
        listener = sessions.of(f"{number}").listener
        listener.level, listener.is_local = "info", True
        notifier.join(listener)
        sessions.rest(f"{number}")

    for _ in range(1000):
        notifier.join(Listener(lambda _method, _params: None, is_local=True))

    assert sessions.known("0") is None
    assert sessions.known(f"{ALL - 1}") is not None


def told(session: Session, *messages: tuple[str, dict[str, Any]]) -> list[Any]:
    """Return the messages on its stream; `None` is its end."""
    queue = open_stream(session)
    assert queue is not None
    for method, params in messages:
        session.tell(method, params)
    return [json.loads(one) if one else None for one in all_of(queue)]


def all_of(queue: Backlog[bytes | None]) -> list[bytes | None]:
    return [queue.get_nowait() for _ in range(queue.qsize())]


CHANGED = ("notifications/tools/list_changed", {})


def updated(number: int) -> tuple[str, dict[str, Any]]:
    return UPDATED, {"uri": f"a://{number}"}


def test_a_change_that_a_client_has_not_heard_of_yet_is_told_once() -> None:
    session = Sessions().of("a")

    said = told(session, *[CHANGED] * 1000, updated(1), CHANGED, updated(2), updated(1))

    assert [one["method"] for one in said] == [CHANGED[0], UPDATED, UPDATED]
    session.tell(*CHANGED)
    assert session.stream is not None
    assert len(all_of(session.stream)) == 1


def test_a_client_that_does_not_keep_up_with_changes_is_sent_away() -> None:
    session = Sessions().of("a")

    said = told(session, *[updated(number) for number in range(1000)])

    assert said[-1] is None
    assert None not in said[:-1]
    assert told(session, CHANGED)[0]["method"] == CHANGED[0]


def test_a_client_that_does_not_keep_up_with_logs_misses_some() -> None:
    session = Sessions().of("a")

    said = told(session, *[(LOGGED, {"data": number}) for number in range(1000)])

    assert [one["params"]["data"] for one in said] == [*range(256)]


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("differ", "heard"), [(False, 1), (True, 255)], ids=["the same", "different"]
)
@pytest.mark.process
async def test_a_client_of_today_hears_once_or_is_sent_away(
    tmp_path: Path, *, differ: bool, heard: int
) -> None:
    wanted = {"notifications": {"toolsListChanged": True}}
    async with (
        serve(faulty("plain", "s"), store=tmp_path / "a.db") as served,
        raw_client(served.url, MODERN) as client,
    ):
        notifier = served.gateway.upstreams.notifier
        stream = await client.open("subscriptions/listen", wanted)
        await stream.next()
        for number in range(1000):
            notifier.tell("s", None, CHANGED[0], {"number": number if differ else 0})
        is_there = notifier.count == 1
        notifier.close()
        said = [json.loads(one[6:]) async for one in stream.lines if one.startswith("data: ")]
        await stream.close()

    assert is_there is not differ
    assert [one["method"] for one in said[:-1]] == [CHANGED[0]] * heard
    assert said[-1]["result"]["resultType"] == "complete"
