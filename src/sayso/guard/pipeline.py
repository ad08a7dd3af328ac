"""The guard: the list of steps that decide on every call.

`STEPS` is the list, and each step has its own file: a `Step` has a name, a function that selects
the calls it applies to, and a function to run. One loop takes a call through the steps that apply:

    find -> validate -> narrow -> serialize -> decide
    -> outcome( ceiling -> precondition -> repeat( plan -> output( confirm -> retry(
       attempt -> execute ))))

A `WrappingStep` (outcome, repeat, output, retry) runs around the steps after it. Steps get their
services from `guard.context`, which imports no step. Observers are notified of each step here, of
each exchange with a server in `connect.link`, and of each request in the gateway's dispatcher.
Without an observer each of these places costs one comparison with `None`.

The question to a person is recorded before the attempt, and the attempt just before the call is
sent. So an attempt without an outcome in the log means that the call may have run.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypedDict, Unpack

from sayso.approvals import Approvals, Channel, Elicit, Rounds
from sayso.audit import AuditLog, Outcome
from sayso.guard.call import (
    Answer,
    Call,
    CallRequest,
    Execute,
    Progress,
    Through,
    new_id,
    no_progress,
)
from sayso.guard.context import FindTool, GuardContext, Step, Trail, Watch, WrappingStep
from sayso.guard.ordering import Turn
from sayso.guard.shutdown import Shutdown
from sayso.guard.steps.attempt import ATTEMPT
from sayso.guard.steps.ceiling import CEILING
from sayso.guard.steps.confirm import CONFIRM
from sayso.guard.steps.decide import DECIDE
from sayso.guard.steps.execute import EXECUTE
from sayso.guard.steps.find import FIND
from sayso.guard.steps.narrow import NARROW
from sayso.guard.steps.outcome import OUTCOME
from sayso.guard.steps.output import OUTPUT
from sayso.guard.steps.plan import PLAN
from sayso.guard.steps.precondition import PRECONDITION
from sayso.guard.steps.repeat import REPEAT
from sayso.guard.steps.retry import RETRY
from sayso.guard.steps.serialize import SERIALIZE
from sayso.guard.steps.validate import VALIDATE
from sayso.keys import Keyring
from sayso.policy import Policy, Principal, Sight

if TYPE_CHECKING:
    from sayso.store import Database

STEPS: Final[tuple[Step | WrappingStep, ...]] = (
    FIND,
    VALIDATE,
    NARROW,
    SERIALIZE,
    DECIDE,
    OUTCOME,
    CEILING,
    PRECONDITION,
    REPEAT,
    PLAN,
    OUTPUT,
    CONFIRM,
    RETRY,
    ATTEMPT,
    EXECUTE,
)


@dataclass(frozen=True, slots=True)
class Guard(GuardContext):
    """The services of the steps, and the loop that runs them; `watch` observes each call."""

    watch: Watch | None = None

    async def refuse(self, principal: Principal, name: str, outcome: Outcome) -> None:
        """Record that a call of the tool `name` was refused. Raises `StoreError`."""
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
        tool: object | None = None,
        id: str | None = None,  # noqa: A002 - it is the call's id
    ) -> Answer:
        """Take one call through all steps and return its `tools/call` result.

        `elicit` asks the caller's client while the call waits. `rounds` puts the question into the
        answer instead, and holds the client's response. `id` comes from `new_id`; use it to find
        the call's records. For the other parameters, see `CallRequest`. The caller must then call
        `turn.leave`. Cancelling also cancels the call at the server, and the log records that.

        Raises `UnknownToolError`, and `RpcError` for a protocol error from the server.
        """
        request = CallRequest(
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
            tool=tool,
        )
        return await self.take(Call(request))

    async def take(self, call: Call) -> Answer:
        """Take a call through all steps and return its answer, like `Guard.call`.

        Afterwards `call` holds the decision and the outcome. Raises the errors of `Guard.call`.
        """
        if self.watch is None:
            return await _run_steps(self, None, 0, call)
        trail = self.watch(call)
        try:
            answer = await _run_steps(self, trail, 0, call)
        except BaseException as error:
            trail.end(None, error)
            raise
        trail.end(answer, None)
        return answer


async def _run_steps(guard: GuardContext, trail: Trail | None, first: int, call: Call) -> Answer:
    """Run the steps that apply to the call, from index `first` on, and return the answer.

    A wrapping step stays open while the later steps run; any other step ends before the next one.
    """
    for index in range(first, len(STEPS)):
        step = STEPS[index]
        if not step.applies(call):
            continue
        if trail is not None:
            trail.reach(step.name)
        if isinstance(step, WrappingStep):
            return await step.run(guard, call, partial(_run_steps, guard, trail, index + 1))
        answer = await step.run(guard, call)
        if answer is not None:
            return answer
    message = "the last step gave no answer"
    raise RuntimeError(message)


class GuardOptions(TypedDict, total=False):
    """The fields of `GuardContext` and `Guard` that differ between front ends."""

    console: str | None
    channels: Sequence[Channel]
    keys: Keyring | None
    patience: float
    announce: Callable[[str], None]
    sight: Sight
    shutdown: Shutdown
    watch: Watch | None
    withdraws: bool


def compose_guard(
    store: "Database",
    audit: AuditLog,
    approvals: Approvals,
    *,
    find_tool: FindTool,
    run: Execute,
    policy: Callable[[], Policy],
    **options: Unpack[GuardOptions],
) -> Guard:
    """Return a guard for a front end; `audit` and `approvals` must belong to `store`."""
    return Guard(
        find_tool=find_tool,
        run=run,
        approvals=approvals,
        audit=audit,
        claims=store.claims,
        policy=policy,
        clock=approvals.clock,
        **options,
    )
