"""A console over a gateway whose tools are written here, and browsers that talk to it."""

import re
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self, cast

import anyio
import httpx2
import pytest
from starlette.applications import Starlette

from sayso.approvals import Approval, Approvals
from sayso.audit import AuditLog
from sayso.catalog import SEPARATOR, Tool, read_tools
from sayso.connect import CommandTarget
from sayso.console import Login, make_routes
from sayso.errors import SaysoError
from sayso.gateway import Gateway
from sayso.gateway.health import Health, ServerHealth
from sayso.gateway.upstreams import Upstreams
from sayso.guard import Answer, Call, Guard
from sayso.policy import Policy, Principal
from sayso.store.database import Database
from sayso.store.sqlite import open_sqlite

BASE = "http://127.0.0.1:8321"

DELETE: Mapping[str, Any] = {
    "name": "customer_delete",
    "title": "Delete customer",
    "description": "Delete a customer with all notes. This cannot be undone.",
    "annotations": {"readOnlyHint": False, "destructiveHint": True},
    "inputSchema": {"type": "object"},
}
LIST: Mapping[str, Any] = {
    "name": "customers_list",
    "annotations": {"readOnlyHint": True, "openWorldHint": False},
    "inputSchema": {"type": "object"},
}


@dataclass
class Clock:
    """A clock that stands still until a test moves it. It starts at noon, UTC."""

    now: float = 1_795_521_600.0

    def __call__(self) -> float:
        return self.now


@dataclass
class Shelf:
    """A server that only lists: what the console asks of one, without a process behind it.

    The browser's tests have a real server; here the tests choose what it says, or that it fails.
    """

    name: str = "studio"
    raws: list[Any] = field(default_factory=lambda: [dict(DELETE), dict(LIST)])
    error: SaysoError | None = None
    target: CommandTarget = field(default_factory=lambda: CommandTarget("studio", "studio-server"))
    state: Health = field(default_factory=Health)
    latest: Any = None
    listed_at: float | None = None
    retried: int = 0

    async def retry(self) -> None:
        """Somebody wants it connected now."""
        self.retried += 1
        await self.tools()

    @property
    def prefix(self) -> str:
        """What its tools' names begin with behind the gateway."""
        return f"{self.name}{SEPARATOR}"

    def health(self) -> ServerHealth:
        """How it fares, as a test says."""
        return ServerHealth(self.name, self.state, 1, self.state.opened, self.state.failed)

    def of(self, _principal: Principal) -> Self:
        """It lists the same to everybody."""
        return self

    @property
    def remembered(self) -> list[Tool] | None:
        """The tools that it gave last: it has been asked unless it fails."""
        return None if self.error is not None else read_tools(self.name, self.raws)[0]

    async def tools(self, *, is_fresh: bool = False) -> tuple[list[Tool], list[str]]:  # noqa: ARG002 - the shelf is always fresh
        if self.error is not None:
            raise self.error
        return read_tools(self.name, self.raws)

    async def tool(self, qualified_name: str, *, is_fresh: bool = False) -> Tool | None:
        found, _ = await self.tools(is_fresh=is_fresh)
        return next((one for one in found if one.qualified_name == qualified_name), None)


@dataclass
class Bench:
    """The console and all that a test needs to know of what is behind it."""

    app: Starlette
    gateway: Gateway
    login: Login
    store: Database
    clock: Clock
    shelf: Shelf
    ran: list[Call] = field(default_factory=list[Call])
    policy: Policy = field(default_factory=Policy)
    is_failing: bool = False
    error: Exception | None = None
    is_held: bool = False
    answer: Answer | None = None

    async def call(
        self,
        name: str = "studio__customer_delete",
        arguments: Mapping[str, Any] | None = None,
        *,
        client: str = "desk-agent",
        subject: str = "local",
    ) -> Answer:
        """One call through the guard, which does not wait for an answer."""
        principal = Principal(subject, client=client)
        return await self.gateway.guard.call(principal, name, arguments or {"customer_id": 41})

    async def find(self, number: int = 1) -> Approval:
        approval = await self.gateway.guard.approvals.find(number)
        assert approval is not None
        return approval

    def visitor(self) -> httpx2.AsyncClient:
        """A browser that is not logged in, and follows no redirect by itself."""
        return httpx2.AsyncClient(transport=httpx2.ASGITransport(self.app), base_url=BASE)

    @asynccontextmanager
    async def browser(self) -> AsyncGenerator[httpx2.AsyncClient]:
        """A browser that is logged in."""
        async with self.visitor() as browser:
            fields = {"token": token_of(self.login.link())}
            assert (await browser.post("/console/login", data=fields)).status_code == 303
            yield browser


def token_of(link: str) -> str:
    return link.partition("token=")[2]


def csrf_of(page: httpx2.Response) -> str:
    """The token that stands in the page's forms."""
    found = re.search(r'name="csrf" value="([^"]+)"', page.text)
    assert found, page.text
    return found[1]


async def answer(browser: httpx2.AsyncClient, verdict: str, number: int = 1) -> httpx2.Response:
    """Press a button of the approvals page."""
    fields = {"csrf": csrf_of(await browser.get("/console/")), "verdict": verdict}
    return await browser.post(f"/console/approvals/{number}/answer", data=fields)


@pytest.fixture
def server_name() -> str:
    """What the server is called; a file of tests may call it otherwise."""
    return "studio"


@pytest.fixture
async def bench(tmp_path: Path, server_name: str) -> AsyncGenerator[Bench]:
    store, clock, shelf = open_sqlite(tmp_path / "sayso.db"), Clock(), Shelf(server_name)
    upstreams = Upstreams([cast("Any", shelf)], timeout=5.0)
    ran: list[Call] = []

    async def run(call: Call) -> Answer:
        ran.append(call)
        if bench.error is not None:
            raise bench.error
        if bench.is_held:
            call.is_sent = True
            await call.progress(1, 3, "one of three")
            await anyio.sleep_forever()
        if bench.answer is not None:
            return bench.answer
        return {"content": [{"type": "text", "text": "done"}], "isError": bench.is_failing}

    guard = Guard(
        find_tool=upstreams.find_tool,
        run=run,
        approvals=Approvals.of(store, clock=clock),
        audit=AuditLog(store.records, clock=clock),
        claims=store.claims,
        patience=0,
        attempts=1,
        clock=clock,
        policy=lambda: bench.policy,
    )
    gateway = Gateway(upstreams, guard, store)
    login = Login(BASE, tokens=store.tokens, keys=gateway.keys, clock=clock)
    app = Starlette(routes=make_routes(gateway, login, base_url=BASE))
    bench = Bench(app, gateway, login, store, clock, shelf, ran)
    yield bench
    await store.close()


@pytest.fixture(scope="module")
async def chromium() -> AsyncGenerator[Any]:
    """One browser for all tests of a file."""
    # Most files here have no use for it.
    from tests.console.browsing import browsing

    async with browsing() as found:
        yield found
