"""The gateway tells of rules that match nothing, once, and not before its servers have answered."""

import logging
from functools import partial
from pathlib import Path

import anyio
import pytest
from mcp import Client
from tests.connect.serving import faulty
from tests.gateway.serving import serve

from sayso.gateway.unmatched import find_unmatched, warn_of_unmatched
from sayso.policy import load_policy

pytestmark = pytest.mark.anyio

MISSPELLED = load_policy(
    '[[rules]]\nname = "r"\neffect = "deny"\nwhen = { server = "s", tool = "delte_all" }\n'
)


async def test_a_rule_that_matches_nothing_is_told_once_its_server_has_answered(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    async with serve(
        faulty("plain", "s"), store=tmp_path / "a.db", policy=lambda: MISSPELLED
    ) as served:
        assert find_unmatched(served.gateway) == []
        async with Client(served.url) as client:
            await client.list_tools()
        (told,) = find_unmatched(served.gateway)
        with anyio.move_on_after(0.2):
            await partial(warn_of_unmatched, served.gateway, seconds=0.001)()
    assert "the rule “r”" in told
    assert [one.message for one in caplog.records if one.message == told] == [told]
