"""The classes of the guard's steps, and the services that the steps use."""

import time
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol

from sayso.approvals import Approvals, Channel, Waiters
from sayso.audit import AuditLog
from sayso.catalog import Tool, as_tool
from sayso.guard.active_calls import ActiveCalls
from sayso.guard.call import Answer, Call, Execute
from sayso.guard.schemas import SchemaCache
from sayso.guard.shutdown import Shutdown
from sayso.keys import Keyring
from sayso.policy import Policy, Principal, Sight, Standing, ToolFacts
from sayso.schema import LIMIT
from sayso.store import Claims

REPEAT_POLL_SECONDS: Final = 0.1
"""The interval at which one query checks, for all repeated calls, if the first calls have ended."""

_GUARDED: Final = Policy()

Then = Callable[[Call], Awaitable[Answer]]
"""A function that takes a call through the steps after the current one."""


class FindTool(Protocol):
    """A function that finds a tool by name for a principal; `is_fresh` bypasses the cache.

    It returns any type that `sayso.catalog.as_tool` accepts, or `None`.
    """

    async def __call__(
        self, name: str, principal: Principal, /, *, is_fresh: bool = False
    ) -> object | None: ...


def unruled() -> Policy:
    """Return the default policy, which has no rules; each call returns the same object."""
    return _GUARDED


def keep_quiet(_: str) -> None:
    """Ignore the announcement."""


@dataclass(frozen=True, slots=True)
class GuardContext:
    """The services that the steps use.

    - `find_tool`: finds a tool, and may connect to its server; `run` sends a call to that server.
    - `policy`: returns the current policy.
    - `console`: the address where a person answers, if there is one. `channels`: other ways to ask.
    - `keys`: seal the states that clients carry between requests.
    - `patience`: the seconds that a call waits for a person. `repeat_patience`: the seconds that a
      repeated idempotency key waits for the first call's result (default: `patience`).
    - `limit`: the maximum characters of a result, unless the policy sets another limit.
    - `attempts`: the maximum number of tries of a call that may run twice.
    - `announce`: gets a sentence for each call that begins to wait.
    - `withdraws`: whether a cancelled call withdraws its open question.
    """

    find_tool: FindTool
    run: Execute
    approvals: Approvals
    audit: AuditLog
    claims: Claims
    policy: Callable[[], Policy] = unruled
    console: str | None = "the console"
    channels: Sequence[Channel] = ()
    keys: Keyring | None = None
    patience: float = 45.0
    repeat_patience: float | None = None
    announce: Callable[[str], None] = keep_quiet
    limit: int = LIMIT
    attempts: int = 3
    clock: Callable[[], float] = time.time
    schemas: SchemaCache = field(default_factory=SchemaCache)
    sight: Sight = field(default_factory=Sight)
    standing: Standing = field(default_factory=Standing)
    shutdown: Shutdown = field(default_factory=Shutdown)
    active_calls: ActiveCalls = field(default_factory=ActiveCalls)
    withdraws: bool = False
    repeats: Waiters[tuple[str, str]] = field(init=False, repr=False, compare=False)
    """Repeated calls that wait, by their idempotency key and the id of the first call with it."""

    def __post_init__(self) -> None:
        repeats = Waiters(self._ended_among, lambda: REPEAT_POLL_SECONDS)
        object.__setattr__(self, "repeats", repeats)

    async def _ended_among(
        self, claims: Collection[tuple[str, str]]
    ) -> Collection[tuple[str, str]]:
        running = await self.claims.running([key for key, _ in claims])
        return {*claims} - running

    def sees(
        self, principal: Principal, tool: object, policy: Policy | None = None
    ) -> tuple[Tool, ToolFacts] | None:
        """Return a tool (any type that `as_tool` accepts) under the policy; `None` if hidden."""
        return self.sight.shown(policy or self.policy(), principal, as_tool(tool))

    def result_limit(self, tool: Tool) -> int:
        return self.policy().result_characters(tool.server, tool.name) or self.limit

    def patience_of(self, call: Call) -> float:
        patience = call.request.patience
        return self.patience if patience is None else patience


Applies = Callable[[Call], bool]
Check = Callable[[GuardContext, Call], Awaitable[Answer | None]]
Wrap = Callable[[GuardContext, Call, Then], Awaitable[Answer]]


def every_call(_: Call) -> bool:
    """Return true: the step applies to every call."""
    return True


@dataclass(frozen=True, slots=True)
class Step:
    """A step that answers the call, or returns `None` to let it continue."""

    name: str
    applies: Applies
    run: Check


@dataclass(frozen=True, slots=True)
class WrappingStep:
    """A step around the later steps. `run` runs those by `then`, and gets their answer."""

    name: str
    applies: Applies
    run: Wrap


class Trail(Protocol):
    """An observer of one call. Its methods must not raise."""

    def reach(self, step: str) -> None:
        """Note that the call reaches a step; a retry reaches the same step again."""
        ...

    def end(self, answer: Answer | None, error: BaseException | None) -> None:
        """Note that the call ends with an answer, an error or a cancellation."""
        ...


Watch = Callable[[Call], Trail]
"""A function that is called before the first step and returns the observer of the call."""
