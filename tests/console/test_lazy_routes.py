"""The console's pages are imported when somebody looks at one."""

import asyncio
from collections.abc import Sequence

import httpx2
import pytest
from starlette.applications import Starlette
from starlette.routing import BaseRoute
from tests.console.conftest import BASE, Bench

from sayso.console import make_lazy_routes, make_routes

pytestmark = pytest.mark.anyio

ADDRESSES = [
    "/",
    "/console",
    "/console/",
    "/console/login?token=none",
    "/console/nothing",
    "/api/tools",
    "/api/v1/me",
]


async def test_they_are_made_once_and_answer_as_those_that_were_there_before(bench: Bench) -> None:
    made: list[str] = []

    def make() -> Sequence[BaseRoute]:
        made.append("now")
        return make_routes(bench.gateway, bench.login, base_url=BASE)

    app = Starlette(routes=make_lazy_routes(make))
    assert not made
    transport = httpx2.ASGITransport(app)
    async with httpx2.AsyncClient(transport=transport, base_url=BASE) as browser:
        found = await asyncio.gather(*(browser.get(one) for one in ADDRESSES))
        refused = await browser.get("/console/", headers={"host": "evil.example"})
    async with bench.visitor() as browser:
        expected = [await browser.get(one) for one in ADDRESSES]

    assert made == ["now"]
    assert [(one.status_code, one.text) for one in found] == [
        (one.status_code, one.text) for one in expected
    ]
    assert refused.status_code == 421
