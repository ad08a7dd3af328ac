"""Fills a store with some of everything that an upgrade must keep.

`python tests/store/fill.py URL` uses the sayso and the tests on PYTHONPATH, so that an older sayso
fills a store as it did. Run again, it continues the log, as the sayso that serves after an upgrade
or a rollback.
"""

import sys

import anyio
from tests.guard.world import KEYS, World, asked, yes
from tests.sample_tools import AMY, DELETE, READ

from sayso.approvals import Approvals
from sayso.audit import open_audit
from sayso.guard import Guard
from sayso.intent import Span
from sayso.store import open_store


async def fill(url: str) -> None:
    """Make a read, and a deletion that a person allows for the session, or has allowed before."""
    store = open_store(url)
    approvals = Approvals.of(store, keys=KEYS)
    world = World(store)
    world.add("read", READ)
    world.add("delete", DELETE, grant=Span.SESSION)
    try:
        async with open_audit(store, KEYS) as log, anyio.create_task_group() as group:
            guard = Guard(world.find, world.run, approvals, log, store.claims, keys=KEYS)
            await guard.call(AMY, "read", {"n": 1})
            is_asked = not await approvals.list_grants()
            group.start_soon(guard.call, AMY, "delete", {"customer_id": 7})
            if is_asked:
                await asked(guard)
                assert await approvals.answer(1, yes(span=Span.SESSION))
        assert [call.tool.name for call in world.ran] == ["read", "delete"]
    finally:
        await store.close()


if __name__ == "__main__":
    anyio.run(fill, sys.argv[1])
