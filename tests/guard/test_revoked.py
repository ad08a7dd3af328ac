"""A standing approval that is taken back while a call is on its way to its server."""

import json
from dataclasses import dataclass, field
from typing import Any

import pytest
from tests.sample_tools import AMY, DELETE, WRITE, tool

from avow.approvals import Answer, Approvals
from avow.audit import AuditLog
from avow.catalog import Tool
from avow.guard import Call, Guard
from avow.intent import Span
from avow.store import Claim, RecordRow, Store, Use

pytestmark = pytest.mark.anyio

TOOL = tool(annotations=DELETE)


@dataclass
class Revoking:
    """A real store in which somebody takes each grant back just after it was used."""

    store: Store
    is_armed: bool = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self.store, name)

    async def use_grant(self, number: int, *, now: float, alive: float) -> bool:
        has_used = await self.store.use_grant(number, now=now, alive=alive)
        if self.is_armed:
            assert await self.store.revoke_grant(number, by="bob", now=now)
        return has_used


@dataclass
class World:
    """A server that counts."""

    ran: list[str] = field(default_factory=list[str])

    async def find(self, _: str, _principal: object, /, *, is_fresh: bool = False) -> Tool:  # noqa: ARG002 - a seam
        return TOOL

    async def run(self, call: Call) -> dict[str, Any]:
        call.is_sent = True
        self.ran.append(call.id)
        return {"content": [{"type": "text", "text": "done"}]}


async def test_a_call_that_was_not_sent_yet_does_not_run_on_a_grant_that_was_taken_back(
    store: Store,
) -> None:
    world, revoking = World(), Revoking(store)
    approvals = Approvals(revoking)  # pyright: ignore[reportArgumentType] - as far as is needed
    guard = Guard(world.find, world.run, approvals, AuditLog(store), patience=0)
    await guard.call(AMY, TOOL.name, {"n": 1})
    said = Answer(is_allowed=True, by="bob", channel="console", span=Span.SESSION)
    assert await approvals.answer(1, said)
    for number in (1, 2):
        assert "isError" not in await guard.call(AMY, TOOL.name, {"n": number})
    revoking.is_armed = True
    answer = await guard.call(AMY, TOOL.name, {"n": 3})
    assert "does not hold any more" in answer["content"][0]["text"]
    assert len(world.ran) == 2
    ends = await store.records(limit=1)
    assert json.loads(ends[0].body)["outcome"] == "denied"
    waiting = await guard.call(AMY, TOOL.name, {"n": 3})
    assert waiting["_meta"]["io.avow/approval"] == {"number": 2, "state": "pending"}


@dataclass
class Paused:
    """A real store in which a call's key is given to another just before its attempt is written."""

    store: Store

    def __getattr__(self, name: str) -> Any:
        return getattr(self.store, name)

    async def begin(self, records: list[RecordRow], use: Use, **more: Any) -> Any:
        assert use.claim is not None
        await self.store.settle_claim(use.claim, records[0].call, None)
        other = Claim(use.claim, "amy", "r", "another", "", None, 9e9)
        assert (await self.store.claim(other, now=0.0)).call == "another"
        return await self.store.begin(records, use, **more)


async def test_a_call_whose_key_was_given_to_another_does_not_run(store: Store) -> None:
    """As after a pause in which its process was taken for dead."""
    world, writes = World(), tool("note_set", WRITE)

    async def find(_: str, _principal: object, /, *, is_fresh: bool = False) -> Tool:  # noqa: ARG001 - a seam
        return writes

    paused: Any = Paused(store)
    guard = Guard(find, world.run, Approvals(paused), AuditLog(paused))
    answer = await guard.call(AMY, writes.name, {}, meta={"io.avow/idempotency-key": "k"})
    assert "another call has this call's key now" in answer["content"][0]["text"]
    assert world.ran == []
