"""The guard: one list of steps that every call takes. Nothing else decides."""

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, Protocol

from avow.approvals import Approvals, Channel, Elicit, Rounds, Waiters
from avow.audit import AuditLog, Outcome
from avow.audit.salt import draw_salt
from avow.catalog import Tool, as_tool
from avow.guard.call import Answer, Call, Execute, Progress, Through, no_progress
from avow.guard.concern import Then, joined
from avow.guard.ending import Ending
from avow.guard.running import Running
from avow.guard.shape import Shapes
from avow.guard.steps.attempt import attempt
from avow.guard.steps.ceiling import ceiling
from avow.guard.steps.confirm import confirm
from avow.guard.steps.decide import decide
from avow.guard.steps.execute import execute
from avow.guard.steps.find import find
from avow.guard.steps.narrow import narrow
from avow.guard.steps.outcome import outcome
from avow.guard.steps.output import output
from avow.guard.steps.plan import plan
from avow.guard.steps.repeat import POLL_SECONDS, repeat
from avow.guard.steps.retry import retry
from avow.guard.steps.turn import turn
from avow.guard.steps.validate import validate
from avow.guard.steps.when import when
from avow.guard.turns import Turn
from avow.guard.watch import Trail, Watch
from avow.keys import Keyring
from avow.policy import Policy, Principal, Sight, Standing, ToolFacts
from avow.schema import LIMIT

_GUARDED: Final = Policy()


class FindTool(Protocol):
    """Finds a tool by its name, as a principal has it; `is_fresh` asks its server now.

    It gives a tool of any kind that `avow.catalog.as_tool` takes, or `None`.
    """

    async def __call__(
        self, name: str, principal: Principal, /, *, is_fresh: bool = False
    ) -> object | None: ...


class Step(Protocol):
    """One step: looks at the call, and goes on with `then` or answers itself."""

    async def __call__(self, guard: "Guard", call: Call, then: Then) -> Answer: ...


STEPS: Final[tuple[Step, ...]] = (
    find,
    validate,
    narrow,
    turn,
    decide,
    outcome,
    ceiling,
    when,
    repeat,
    plan,
    output,
    confirm,
    retry,
    attempt,
    execute,
)
_NAMES: Final = tuple(str(getattr(step, "__name__", "")) for step in STEPS)


async def _nothing(_: Call) -> Answer:
    """Where the last step would go on to, if it did."""
    message = "the last step has nothing to go on with"
    raise RuntimeError(message)


def unruled() -> Policy:
    """The policy where nobody has written one: the same each time, so that it can be told."""
    return _GUARDED


def keep_quiet(_: str) -> None:
    """Announce nothing."""


@dataclass(frozen=True, slots=True)
class Guard:
    """What the steps need: where tools are found, who is asked, what is written, what runs.

    `find_tool` may connect to a server. `policy` gives the policy of the moment. `console` is the
    address where a person answers, and `None` where there is none; `channels` are the other ways
    to people, and `keys` seal what goes to clients. `patience` is how many seconds a call waits for
    an answer, and `repeat_patience` one that was made before for what became of the first, where
    that differs. Results are cut to `limit` characters, unless the policy says otherwise; what may
    happen twice is tried `attempts` times. `announce` is told, in a sentence, of each call that
    begins to wait. `watch` looks on, `ending` says whether the process is about to end, and
    `running` what servers have just now.
    Where `withdraws`, a call that is cancelled takes its open question with it.
    """

    find_tool: FindTool
    run: Execute
    approvals: Approvals
    audit: AuditLog
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
    shapes: Shapes = field(default_factory=Shapes)
    sight: Sight = field(default_factory=Sight)
    standing: Standing = field(default_factory=Standing)
    watch: Watch | None = None
    ending: Ending = field(default_factory=Ending)
    running: Running = field(default_factory=Running)
    withdraws: bool = False
    repeats: Waiters[tuple[str, str]] = field(init=False, repr=False, compare=False)
    """Calls that wait for the first call with their key, by key and that call."""
    _first: Then = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "repeats", Waiters(self._ended_among, lambda: POLL_SECONDS))
        then: Then = _nothing
        for step in reversed(STEPS):
            then = joined(step, self, then)
        # Which step comes after which is the same for all calls.
        object.__setattr__(self, "_first", then)

    async def _ended_among(
        self, claims: Collection[tuple[str, str]]
    ) -> Collection[tuple[str, str]]:
        running = await self.approvals.store.running_claims([key for key, _ in claims])
        return {*claims} - running

    def sees(
        self, principal: Principal, tool: object, policy: Policy | None = None
    ) -> tuple[Tool, ToolFacts] | None:
        """Return the tool as the policy sees it, or `None` if this caller may not know of it.

        `tool` is of any kind that `avow.catalog.as_tool` takes.
        """
        return self.sight.shown(policy or self.policy(), principal, as_tool(tool))

    def result_limit(self, tool: Tool) -> int:
        """Return how many characters a result of `tool` may have: the policy's word, or `limit`."""
        return self.policy().result_characters(tool.server, tool.name) or self.limit

    def patience_of(self, call: Call) -> float:
        """Return how many seconds this call waits for a person."""
        return self.patience if call.patience is None else call.patience

    async def refuse(self, principal: Principal, name: str, outcome: Outcome) -> None:
        """Record that a call of the tool `name` was turned away. Raises `StoreError`."""
        await self.audit.refused(new_id(), principal, name=name, outcome=outcome)

    async def call(  # noqa: PLR0913 - each is a part of its own, most with a default
        self,
        principal: Principal,
        name: str,
        arguments: Mapping[str, Any],
        *,
        progress: Progress = no_progress,
        meta: Mapping[str, Any] | None = None,
        brought: Mapping[str, Any] | None = None,
        elicit: Elicit | None = None,
        rounds: Rounds | None = None,
        through: Through | None = None,
        turn: Turn | None = None,
        caller: Any = None,
        patience: float | None = None,
        id: str | None = None,  # noqa: A002 - it is the call's id
    ) -> Answer:
        """Take one call through all steps and return its `tools/call` result.

        `elicit` asks the caller's client while the call waits; `rounds` says that the client can
        be asked by an answer instead, and what it brought back. Of `meta` a server gets what the
        policy forwards and the protocol needs; `brought` is what else reaches the tool. `through`
        is the meta-tool that names this tool. `turn` is its place among calls that wait for each
        other; whoever drew it leaves it when this ends. `patience` is for
        this call, where it differs. `caller` goes along with the call, for
        whoever runs it. `id` is one that `new_id` has made, for whoever wants to find the call's
        records.

        Raises `UnknownToolError`, and `RpcError` when the server answered with a protocol error.
        Cancelling cancels the call at the server; the log says what is known of it.
        """
        call = Call(
            id=id or new_id(),
            principal=principal,
            name=name,
            arguments=arguments,
            started=self.clock(),
            progress=progress,
            meta=meta,
            brought=brought or {},
            elicit=elicit,
            rounds=rounds,
            through=through,
            turn=turn,
            caller=caller,
            patience=patience,
        )
        return await self.take(call)

    async def take(self, call: Call) -> Answer:
        """The same for a call that was made by whoever wants to know more of it than its answer."""
        if self.watch is None:
            return await self._first(call)
        trail = self.watch(call)
        try:
            answer = await self._seen(trail, 0, call)
        except BaseException as error:
            trail.end(None, error)
            raise
        trail.end(answer, None)
        return answer

    async def _seen(self, trail: Trail, index: int, call: Call) -> Answer:
        """The steps from here on, with somebody who looks on."""
        trail.reach(_NAMES[index])
        return await STEPS[index](self, call, partial(self._seen, trail, index + 1))


def new_id() -> str:
    """A new call's id. It begins with the time, so that an index of ids grows at its end."""
    return f"{time.time_ns() // 1_000_000:011x}{draw_salt()}"
