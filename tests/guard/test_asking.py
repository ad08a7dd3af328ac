"""Putting a question: over which channels, for how long, and what comes back over them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import anyio
import pytest
from tests.guard.world import World, text, while_waiting, yes
from tests.sample_tools import AMY, DELETE

from avow.approvals import Answer, Approval, Approvals, Rounds, Strength
from avow.approvals.elicitation import INPUT
from avow.policy import Principal

pytestmark = pytest.mark.anyio

RELAYED = '[approvals]\nchannels = ["console", "elicitation"]\n'
APPROVE = {INPUT: {"action": "accept", "content": {"approve": True}}}


async def test_patience_is_not_lengthened_by_a_clock_that_is_set_back(world: World) -> None:
    guard = world.timed(patience=0.2)
    world.add("t", DELETE)

    async def set_back() -> None:
        world.clock.now -= 86_400

    answer = await while_waiting(guard, "t", set_back)
    assert answer["_meta"]["io.avow/approval"]["state"] == "pending"
