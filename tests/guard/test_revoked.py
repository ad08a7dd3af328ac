"""A standing approval that is taken back while a call is on its way to its server."""

import json
from dataclasses import dataclass, field
from typing import Any

import pytest
from tests.databases import with_subjects
from tests.sample_tools import AMY, DELETE, WRITE, tool

from sayso.approvals import Answer, Approvals
from sayso.audit import AuditLog
from sayso.catalog import Tool
from sayso.guard import Call, Guard
from sayso.intent import Span
from sayso.store import Claim, Database, Grants, RecordRow, Use

pytestmark = pytest.mark.anyio

TOOL = tool(annotations=DELETE)


@dataclass
class Revoking:
    """Real grants, each of which is revoked just after it was used."""

    grants: Grants
    is_armed: bool = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self.grants, name)

    async def use(self, number: int, *, now: float, alive: float) -> bool:
        has_used = await self.grants.use(number, now=now, alive=alive)
        if self.is_armed:
            assert await self.grants.revoke(number, by="bob", now=now)
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
    store: Database,
) -> None:
    world, revoking = World(), Revoking(store.grants)
    approvals = Approvals.of(with_subjects(store, grants=revoking))
    guard = Guard(
        world.find, world.run, approvals, AuditLog(store.records), store.claims, patience=0
    )
    await guard.call(AMY, TOOL.name, {"n": 1})
    said = Answer(is_allowed=True, by="bob", channel="console", span=Span.SESSION)
    assert await approvals.answer(1, said)
    for number in (1, 2):
        assert "isError" not in await guard.call(AMY, TOOL.name, {"n": number})
    revoking.is_armed = True
    answer = await guard.call(AMY, TOOL.name, {"n": 3})
    assert "is no longer valid" in answer["content"][0]["text"]
    assert len(world.ran) == 2
    ends = await store.records.newest(limit=1)
    assert json.loads(ends[0].body)["outcome"] == "denied"
    waiting = await guard.call(AMY, TOOL.name, {"n": 3})
    assert waiting["_meta"]["io.sayso/approval"] == {"number": 2, "state": "pending"}


@dataclass
class Paused:
    """Real records; a call's key is given to another just before its attempt is written."""

    store: Database

    def __getattr__(self, name: str) -> Any:
        return getattr(self.store.records, name)

    async def begin(self, records: list[RecordRow], use: Use, **more: Any) -> Any:
        assert use.claim is not None
        await self.store.claims.settle(use.claim, records[0].call, None)
        other = Claim(use.claim, "amy", "r", "another", "", None, 9e9)
        assert (await self.store.claims.take(other, now=0.0)).call == "another"
        return await self.store.records.begin(records, use, **more)


async def test_a_call_whose_key_was_given_to_another_does_not_run(store: Database) -> None:
    """As after a pause in which its process was taken for dead."""
    world, writes = World(), tool("note_set", WRITE)

    async def find(_: str, _principal: object, /, *, is_fresh: bool = False) -> Tool:  # noqa: ARG001 - a seam
        return writes

    paused = with_subjects(store, records=Paused(store))
    guard = Guard(find, world.run, Approvals.of(paused), AuditLog(paused.records), paused.claims)
    answer = await guard.call(AMY, writes.name, {}, meta={"io.sayso/idempotency-key": "k"})
    assert "another call now has this call's idempotency key" in answer["content"][0]["text"]
    assert world.ran == []
