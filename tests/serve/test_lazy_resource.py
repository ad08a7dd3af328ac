"""A resource with its own task, and the times at which a server opens things."""

import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from subprocess import run as run_process
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from tests.serve.serving import offer, outcomes

from sayso.audit import AuditLog
from sayso.errors import StoreError
from sayso.serve.lazy_resource import LazyResource
from sayso.store import Records

pytestmark = pytest.mark.anyio

NEVER = 3600.0
LATE = (
    "sayso.guard",
    "sayso.approvals",
    "sayso.audit",
    "sayso.serve.execution",
    "sayso.serve.paging",
)


class Opener:
    """Something to be kept: what happened to it, and what is to go wrong."""

    def __init__(self) -> None:
        self.seen: list[str] = []
        self.is_open = anyio.Event()
        self.wrong: Exception | None = None

    @asynccontextmanager
    async def opened(self) -> AsyncGenerator[str]:
        if self.wrong is not None:
            raise self.wrong
        self.seen.append("opened")
        self.is_open.set()
        yield "kept"
        self.seen.append("closed")


async def test_it_opens_once_however_many_want_it_and_closes_in_the_end() -> None:
    opener = Opener()
    resource = LazyResource(opener.opened, NEVER)
    await anyio.lowlevel.checkpoint()
    assert opener.seen == []
    found: list[str] = []

    async def want() -> None:
        found.append(await resource.get())

    async with anyio.create_task_group() as group:
        for _ in range(5):
            group.start_soon(want)
    assert found == ["kept"] * 5
    await resource.close()
    assert opener.seen == ["opened", "closed"]


async def test_it_opens_after_a_moment_where_nobody_wants_it() -> None:
    opener = Opener()
    resource = LazyResource(opener.opened, 0.01)
    with anyio.fail_after(60):
        await opener.is_open.wait()
    await resource.close()
    assert opener.seen == ["opened", "closed"]


async def test_it_is_not_opened_only_to_be_closed() -> None:
    opener = Opener()
    resource = LazyResource(opener.opened, NEVER)
    await resource.close()
    assert opener.seen == []


async def test_what_cannot_be_opened_is_told_and_tried_again_when_it_is_wanted(
    caplog: pytest.LogCaptureFixture,
) -> None:
    opener = Opener()
    opener.wrong = StoreError("the disk is full")
    resource = LazyResource(opener.opened, NEVER)
    for _ in range(2):
        with pytest.raises(StoreError, match="the disk is full"):
            await resource.get()
    assert caplog.text.count("the disk is full") == 2
    opener.wrong = None
    assert await resource.get() == "kept"
    await resource.close()


async def test_a_caller_that_gives_up_leaves_it_to_the_others() -> None:
    opener = Opener()
    resource = LazyResource(opener.opened, NEVER)
    with anyio.CancelScope() as scope:
        scope.cancel()
        await resource.get()
    assert await resource.get() == "kept"
    await resource.close()


async def test_what_goes_wrong_as_it_closes_is_raised() -> None:
    @asynccontextmanager
    async def opened() -> AsyncGenerator[None]:
        yield
        raise StoreError("it cannot be closed")

    resource = LazyResource(opened, NEVER)
    await resource.get()
    with pytest.raises(StoreError, match="cannot be closed"):
        await resource.close()


async def test_nothing_runs_while_the_log_cannot_be_begun(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    offered = offer("MCPServer")
    begin = Records.beat

    async def broken(*_: Any, **__: Any) -> None:
        raise StoreError("the disk is full: hunter2")

    monkeypatch.setattr(Records, "beat", broken)
    async with offered.client() as caller:
        assert await caller.names()
        given = {"id": 1, "name": "x"}
        with pytest.raises(Exception, match="Nothing was run") as caught:
            await caller.call("customer_write", given)
        assert "hunter2" not in str(caught.value)
        assert offered.studio.done == []
        monkeypatch.setattr(Records, "beat", begin)
        assert not (await caller.call("customer_write", given)).is_error
    assert offered.studio.done == ["write 1"]
    assert await outcomes(offered.url) == ["ok"]


async def test_a_list_waits_for_no_log(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[AuditLog] = []
    own = AuditLog.__init__

    def made_here(self: AuditLog, *args: Any, **more: Any) -> None:
        own(self, *args, **more)
        made.append(self)

    monkeypatch.setattr(AuditLog, "__init__", made_here)
    monkeypatch.setattr("sayso.serve.runtime._HEAD_START", NEVER)
    offered = offer("MCPServer")
    async with offered.client() as caller:
        assert await caller.names()
        assert made == []
        await caller.call("customer_get", {"customer_id": 1})
        assert len(made) == 1


@pytest.mark.process
def test_what_calls_need_is_not_imported_to_bind_and_list(tmp_path: Path) -> None:
    program = f"""
import sys, anyio, sayso
from mcp import Client
from mcp.server import MCPServer
server = MCPServer("small")
tools = sayso.bind(server, store="sqlite:{tmp_path}/sayso.db")
@tools.tool(sayso.READ_ONLY)
def get_one() -> str: return "one"
@tools.tool(sayso.READ_ONLY)
def list_all() -> list[str]: return ["one"]
async def main():
    async with Client(server) as client:
        await client.list_tools()
        print([one for one in sorted(sys.modules) if one.startswith({LATE!r})])
anyio.run(main)
"""
    done = run_process(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True, timeout=60
    )
    assert done.stdout.strip() == "[]"
