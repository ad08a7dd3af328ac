"""Those who listen, or once said that they would: nobody takes the room of all others."""

import pytest
from tests.access.authority import Authority
from tests.attacks.serving import behind_access
from tests.connect.servers.web import MODERN, OLD, serve_web
from tests.connect.serving import RawClient, faulty, raw_client
from tests.gateway.serving import serve

from sayso.connect import UrlTarget
from sayso.gateway import notifications
from sayso.gateway.frontends import sessions

pytestmark = pytest.mark.anyio

LISTEN = {"notifications": {"toolsListChanged": True}}


async def wants_logs(client: RawClient) -> str:
    answer = await client.ask("logging/setLevel", {"level": "error"})
    return answer.get("error", {}).get("message", "")


async def status_of_stream(client: RawClient) -> int:
    headers = {"accept": "text/event-stream", **client.session}
    async with client.http.stream("GET", client.url, headers=headers) as response:
        return response.status_code


@pytest.mark.process
async def test_sessions_that_are_only_kept_leave_room_for_those_that_listen(
    store: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(notifications, "_MAX_LISTENERS", 6)
    monkeypatch.setattr(sessions, "_MAX_KEPT", 3)
    async with serve(faulty("plain", "s"), store=store) as served:
        for _ in range(10):
            async with raw_client(served.url, OLD) as client:
                assert await wants_logs(client) == ""
        assert served.gateway.upstreams.notifier.count == 3
        async with raw_client(served.url, OLD) as client:
            assert await status_of_stream(client) == 200
        async with raw_client(served.url, MODERN) as client:
            stream = await client.open("subscriptions/listen", LISTEN)
            assert (await stream.next())["method"] == "notifications/subscriptions/acknowledged"
            await stream.close()


@pytest.mark.process
async def test_a_stream_that_finds_no_room_is_told_so(
    store: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(notifications, "_MAX_LISTENERS", 0)
    async with (
        serve(faulty("plain", "s"), store=store) as served,
        raw_client(served.url, OLD) as client,
    ):
        assert await status_of_stream(client) == 503
        assert "isError" not in await client.call("s__get_echo")


async def test_one_caller_does_not_take_the_room_of_all_others(
    authority: Authority, store: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(notifications, "_MAX_PER_CALLER", 2)
    with serve_web(OLD) as site:
        async with behind_access(authority, UrlTarget("web", site.url), store=store) as place:
            for subject in ("eve", "amy"):
                told: list[str] = []
                for _ in range(3):
                    async with place.client(OLD, place.token(subject)) as client:
                        told.append(await wants_logs(client))
                assert told == ["", "", "too many listeners"]


async def test_what_is_followed_is_bounded(store: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from tests.connect.servers import telling
    from tests.gateway.asking import asking_server

    monkeypatch.setattr(notifications, "_MAX_FOLLOWED", 1)
    async with (
        asking_server("http", is_old=True, kind=telling) as target,
        serve(target, store=store) as served,
        raw_client(served.url, OLD) as client,
        raw_client(served.url, OLD) as other,
    ):
        long = await client.ask("resources/subscribe", {"uri": f"note://{'x' * 3_000}"})
        assert "at most 2048 characters" in long["error"]["message"]
        assert "result" in await client.ask("resources/subscribe", {"uri": "notes://a"})
        more = await other.ask("resources/subscribe", {"uri": "notes://b"})
        assert "resources can be followed" in more["error"]["message"]
