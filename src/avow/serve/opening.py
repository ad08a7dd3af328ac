"""The guard of one server and the log that it writes to: opened once somebody calls.

Nothing else imports this module before that: a client waits for the list of tools first.
"""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager

from avow.approvals import Approvals, listening
from avow.audit import log_head, open_audit
from avow.guard import Guard
from avow.guard.call import Execute
from avow.guard.pipeline import FindTool
from avow.keys import Keyring
from avow.policy import Policy, Sight
from avow.serve.engine import TEMPORARY, Settings
from avow.store import Head


@asynccontextmanager
async def open_guard(
    settings: Settings,
    approvals: Approvals,
    keys: Keyring,
    *,
    find: FindTool,
    run: Execute,
    policy: Callable[[], Policy],
    sight: Sight,
) -> AsyncGenerator[Guard]:
    """The guard, with its log open. Raises `StoreError` where the log cannot be begun."""
    # Of a log that nobody keeps, nobody needs the ends.
    emit = _untold if settings.store == TEMPORARY else log_head
    async with open_audit(approvals.store, keys, emit=emit) as audit, listening(approvals):
        yield Guard(
            find_tool=find,
            run=run,
            approvals=approvals,
            audit=audit,
            policy=policy,
            console=settings.console,
            channels=settings.channels,
            keys=keys,
            patience=settings.patience,
            announce=settings.announce,
            sight=sight,
            clock=approvals.clock,
        )


def _untold(_: Head) -> None:
    """Tell a chain's head to nobody."""
