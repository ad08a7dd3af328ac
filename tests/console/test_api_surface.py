"""The API for tokens, route by route: who may ask for it, and what a screen hears of it."""

import json
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, Final

import anyio
import httpx2
import jsonschema_rs
import pytest
from openapi_spec_validator import OpenAPIV31SpecValidator
from tests.connect.serving import serve_app
from tests.console.conftest import Bench
from tests.console.screening import CHAT, Desk, fits, make_dispatcher
from tests.console.surface import Told, all_addresses, ask

from sayso.approvals import Answer
from sayso.console.api.document import document
from sayso.console.api.stream import EACH
from sayso.console.entry.roles import Role
from sayso.console.gate import HEADERS

pytestmark = pytest.mark.anyio

LIMIT: Final = 60
CALLER, VIEWER, APPROVER = "caller", Role.VIEWER, Role.APPROVER
WHO: Final[dict[str, str | None]] = {
    # They lead to the newest version, and say nothing else.
    "GET /api/v1/openapi.json": None,
    "GET /api/v1/sayso-confirm.js": None,
    # Each sees what it may call.
    "GET /api/v1/tools": CALLER,
    "GET /api/v1/tools/{name}": CALLER,
    "GET /api/v1/approvals": VIEWER,
    "GET /api/v1/approvals/{number}": VIEWER,
    "GET /api/v1/events": VIEWER,
    "GET /api/v1/me": VIEWER,
    "POST /api/v1/approvals/{number}/answer": APPROVER,
}
"""Who may ask for what with a token; the same below the console stands in test_surface."""
HELD: Final = {None: (), CALLER: ("agent",), VIEWER: ("staff",), APPROVER: ("finance",)}
ORDER: Final = [*HELD]
VALUES: Final = {"number": "1", "name": "studio__customer_delete"}


@pytest.fixture
async def desk(bench: Bench) -> Desk:
    await bench.call()
    return make_dispatcher(bench)


async def test_every_route_is_for_those_whom_the_table_names(desk: Desk) -> None:
    found = [one for one in all_addresses(desk.app.routes) if one.path.startswith("/api/")]
    assert {str(one) for one in found} == set(WHO)
    for holder, roles in HELD.items():
        key = await desk.key(f"{holder}", *roles) if holder else ""
        sent: dict[str, Any] = {"authorization": f"Bearer {key}"} if key else {}
        for address in found:
            told = await ask(desk.app, address.verb, address.filled(VALUES), origin=CHAT, **sent)
            needed = WHO[str(address)]
            is_enough = ORDER.index(holder) >= ORDER.index(needed)
            assert is_let_in(told) is is_enough, (address, holder, told)
            own = {name: told.headers.get(name.lower()) for name in HEADERS}
            assert own == HEADERS, address
            assert told.headers["access-control-allow-origin"] == CHAT
    assert (await desk.bench.find()).state == "pending"


def is_let_in(told: Told) -> bool:
    """Whether an answer is none of those that turn somebody away."""
    return told.status != 401 and not (told.status == 403 and '"role"' in told.text)


async def test_the_document_is_openapi_and_tells_of_every_route_and_no_other(desk: Desk) -> None:
    async with desk.screen() as screen:
        served = (await screen.get("/api/v1/openapi.json")).json()
    assert served == document()
    OpenAPIV31SpecValidator(served).validate()
    for schema in served["components"]["schemas"].values():
        jsonschema_rs.validator_for({**schema, "components": served["components"]})
    told = {
        f"{verb.upper()} /api/v1{path}" for path, verbs in served["paths"].items() for verb in verbs
    }
    assert told == {one for one in WHO if "/v1/" in one}


class Heard:
    """What one screen hears."""

    def __init__(self, answer: httpx2.Response) -> None:
        self.answer = answer
        self._lines = answer.aiter_lines()

    async def next(self) -> tuple[str, Any]:
        """The next event but a beat; `end` once the stream is over."""
        name, data = "", ""
        with anyio.fail_after(LIMIT):
            async for line in self._lines:
                key, _, value = line.partition(": ")
                if key == "event":
                    name = value
                elif key == "data":
                    data = value
                elif not line and name != "beat":
                    return name, json.loads(data)
        return "end", None


@asynccontextmanager
async def listening(desk: Desk, key: str) -> AsyncGenerator[Heard]:
    """A screen that listens, over a real connection."""
    async with serve_app(desk.app) as base:
        sent: dict[str, Any] = {"authorization": f"Bearer {key}", "host": "127.0.0.1:8321"}
        async with (
            httpx2.AsyncClient(base_url=base, headers=sent, timeout=LIMIT) as client,
            client.stream("GET", "/api/v1/events") as answer,
        ):
            yield Heard(answer)


async def test_a_screen_hears_of_each_question_as_it_comes_and_goes(desk: Desk) -> None:
    approvals = desk.bench.gateway.guard.approvals
    async with listening(desk, await desk.key("amy", "finance")) as heard:
        name, asked = await heard.next()
        assert (name, fits(asked, "Approval")["number"]) == ("asked", 1)
        assert await heard.next() == ("ready", {"open": [1]})

        await desk.bench.call(arguments={"customer_id": 42})
        name, asked = await heard.next()
        assert (name, fits(asked, "Approval")["number"]) == ("asked", 2)
        assert asked["may_answer"] is True

        given = Answer(is_allowed=False, by="bob", channel="console")
        assert await approvals.answer(1, given)
        name, settled = await heard.next()
        assert (name, fits(settled, "Approval")["number"]) == ("settled", 1)
        assert (settled["state"], settled["answered_by"]) == ("denied", "bob")

        desk.bench.clock.now += 901
        name, settled = await heard.next()
        assert (name, settled["number"], settled["state"]) == ("settled", 2, "expired")


async def test_a_stream_ends_with_the_key_that_opened_it(desk: Desk) -> None:
    key = await desk.key("amy", "finance")
    async with listening(desk, key) as heard:
        await heard.next()
        await heard.next()
        assert await desk.bench.store.api_keys.revoke("amy", by="bob", now=desk.bench.clock())
        assert (await heard.next())[0] == "end"


async def test_one_person_has_no_more_streams_than_a_few_and_takes_none_from_others(
    desk: Desk,
) -> None:
    amy, bob = await desk.key("amy", "finance"), await desk.key("bob", "staff")
    async with AsyncExitStack() as open_, serve_app(desk.app) as base:
        sent = {"host": "127.0.0.1:8321"}
        client = httpx2.AsyncClient(base_url=base, headers=sent, timeout=LIMIT)
        screen = await open_.enter_async_context(client)

        async def listen(key: str) -> tuple[AsyncExitStack, int]:
            one = await open_.enter_async_context(AsyncExitStack())
            given = {"authorization": f"Bearer {key}"}
            stream = screen.stream("GET", "/api/v1/events", headers=given)
            return one, (await one.enter_async_context(stream)).status_code

        found = [await listen(amy) for _ in range(EACH + 1)]
        assert [status for _, status in found] == [200] * EACH + [429]
        assert (await listen(bob))[1] == 200
        await found[0][0].aclose()
        with anyio.fail_after(LIMIT):
            while (await listen(amy))[1] != 200:
                await anyio.sleep(0.005)


async def test_a_stream_ends_with_the_gateway(desk: Desk) -> None:
    async with listening(desk, await desk.key("amy", "finance")) as heard:
        await heard.next()
        await heard.next()
        desk.bench.gateway.guard.shutdown.begin()
        assert (await heard.next())[0] == "end"
