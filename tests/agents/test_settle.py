"""A person's answer that the program brings, when the policy has changed meanwhile."""

import asyncio
from contextlib import suppress

import pytest
from mcp import Client
from tests.agents.office import pending

import sayso
from sayso.agents import ApprovalQueue, ToolCall, Toolset
from sayso.approvals import Approval, Approvals

pytestmark = pytest.mark.anyio

CREATE = ToolCall("one", "customer_create", {"name": "Ann", "email": "ann@studio.example"})


async def test_what_a_person_has_denied_does_not_run_though_the_policy_allows_it_by_now(
    client: Client, url: str
) -> None:
    async with sayso.wrap(client, approver="deferred", audit=url, mode="strict") as guarded:
        toolset = Toolset(guarded)
        asked = await toolset.call(CREATE)
        assert asked.approval is not None
        toolset.switch("guarded")
        ended = await toolset.settle(CREATE, asked.approval.number, is_allowed=False, message="no")
        assert ended.outcome == "denied"
        assert ended.text.startswith("A person denied this call (approval 1). Nothing was run.")
        assert "The person said: “no”" in ended.text
        listed = await toolset.call(ToolCall("two", "customers_list"))
        assert "Ann" not in listed.text
        found = await toolset.servers[0].approval(1)
        assert found is not None
        assert found.state == "denied"


async def test_a_call_takes_its_question_back_though_its_cancellation_was_swallowed(
    client: Client, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a scope of older releases of anyio does that is cancelled in the same moment."""

    async def wait(approvals: Approvals, number: int, _: float) -> Approval | None:
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        with suppress(asyncio.CancelledError):
            await asyncio.sleep(0)
        return await approvals.find(number)

    monkeypatch.setattr(Approvals, "wait", wait)
    async with sayso.wrap(client, approver="deferred", audit=url, mode="strict") as guarded:
        toolset = Toolset(guarded)
        with pytest.raises(asyncio.CancelledError):
            await asyncio.create_task(toolset.call(CREATE))
        found = await toolset.servers[0].guard.approvals.find(1)
        assert found is not None
        assert found.state == "expired"


async def test_a_cancelled_call_takes_its_question_back_before_the_store_is_closed(
    client: Client, url: str
) -> None:
    queue = ApprovalQueue()
    async with sayso.wrap(client, approver=queue, audit=url, mode="strict") as guarded:
        task = asyncio.create_task(Toolset(guarded).call(CREATE))
        await queue.take()
        task.cancel()
    assert task.done()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await pending(url) == []
