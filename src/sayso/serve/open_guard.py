"""The guard of one server and the log that it writes to: opened once somebody calls.

Nothing else imports this module before that: a client waits for the list of tools first.
"""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager

from sayso.approvals import Approvals, listening
from sayso.audit import log_head, open_audit
from sayso.guard import Execute, FindTool, Guard, compose_guard
from sayso.keys import Keyring
from sayso.policy import Policy, Sight
from sayso.serve.runtime import TEMPORARY, Settings
from sayso.store import Database, Head


@asynccontextmanager
async def open_guard(
    settings: Settings,
    store: Database,
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
    async with open_audit(store, keys, emit=emit) as audit, listening(approvals):
        yield compose_guard(
            store,
            audit,
            approvals,
            find_tool=find,
            run=run,
            policy=policy,
            console=settings.console,
            channels=settings.channels,
            keys=keys,
            patience=settings.patience,
            announce=settings.announce,
            sight=sight,
        )


def _untold(_: Head) -> None:
    """Tell a chain's head to nobody."""
