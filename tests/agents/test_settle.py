"""A person's answer that the program brings, when the policy has changed meanwhile."""

import pytest
from mcp import Client

import sayso
from sayso.agents import ToolCall, Toolset

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
