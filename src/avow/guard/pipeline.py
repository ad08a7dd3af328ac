"""The guard: one list of steps that every call takes. Nothing else decides."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, Protocol

from avow.approvals import Approvals, Channel, Elicit, Rounds
from avow.audit import AuditLog
from avow.audit.salt import draw_salt
from avow.catalog import Tool
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
from avow.guard.steps.repeat import repeat
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
    """Finds a tool by its name, as a principal has it; `is_fresh` asks its server now."""

    async def __call__(
        self, name: str, principal: Principal, /, *, is_fresh: bool = False
    ) -> Tool | None: ...


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
    that differs. Results are cut to `limit` characters; what may happen twice is tried `attempts`
    times. `announce` is told, in a sentence, of each call that begins to wait. `watch` looks on,
    `ending` says whether the process is about to end, and `running` what servers have just now.
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
    _first: Then = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        then: Then = _nothing
        for step in reversed(STEPS):
            then = joined(step, self, then)
        # Which step comes after which is the same for all calls.
        object.__setattr__(self, "_first", then)

    def sees(
        self, principal: Principal, tool: Tool, policy: Policy | None = None
    ) -> tuple[Tool, ToolFacts] | None:
        """The tool as the policy sees it, if this caller may know of it; else `None`."""
        return self.sight.shown(policy or self.policy(), principal, tool)

    async def call(  # noqa: PLR0913 - each is a part of its own, most with a default
        self,
        principal: Principal,
        name: str,
        arguments: Mapping[str, Any],
        *,
        progress: Progress = no_progress,
        meta: Mapping[str, Any] | None = None,
        elicit: Elicit | None = None,
        rounds: Rounds | None = None,
        through: Through | None = None,
        turn: Turn | None = None,
        caller: Any = None,
        id: str | None = None,  # noqa: A002 - it is the call's id
    ) -> Answer:
        """Take one call through all steps and return its `tools/call` result.

        `elicit` asks the caller's client while the call waits; `rounds` says that the client can
        be asked by an answer instead, and what it brought back. `through` is the meta-tool that
        names this tool. `turn` is its place among calls that wait for each other; whoever drew it
        leaves it when this ends. `caller` goes along with the call, for whoever runs it. `id` is
        one that `new_id` has made, for whoever wants to find the call's records.

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
            elicit=elicit,
            rounds=rounds,
            through=through,
            turn=turn,
            caller=caller,
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
