"""Guards that are wrong in one way each, to show that what looks at a run would see it."""

from collections.abc import Callable
from typing import Any, Final

from sayso.approvals import Approval, Approvals
from sayso.audit import AuditLog, lifecycle
from sayso.connect import RpcError
from sayso.guard import Call, pipeline
from sayso.guard.context import GuardContext, Then, Wrap, WrappingStep, every_call
from sayso.guard.steps.attempt import record_attempt


async def _late(guard: GuardContext, call: Call, then: Then) -> dict[str, Any]:
    """Writes the attempt down once the call has run."""
    answer = await then(call)
    return await record_attempt(guard, call) or answer


async def _forgetful(_: GuardContext, call: Call, then: Then) -> dict[str, Any]:
    """Remembers no key."""
    return await then(call)


async def _eager(_: GuardContext, call: Call, then: Then) -> dict[str, Any]:
    """Sends again whatever was lost."""
    try:
        return await then(call)
    except RpcError:
        return await then(call)


async def _generous(self: Approvals, approval: Approval, *, call: str) -> bool:  # noqa: ARG001 - its shape
    """Lets an approval serve as often as it is wanted."""
    return True


async def _careless(_: AuditLog) -> int:
    """Closes nothing that dead writers left."""
    return 0


def _put(name: str, run: Wrap) -> None:
    wrong = WrappingStep(name, every_call, run)
    steps = tuple(wrong if one.name == name else one for one in pipeline.STEPS)
    pipeline.STEPS = steps  # pyright: ignore[reportConstantRedefinition] - a mutant


def _never_use() -> None:
    Approvals.use = _generous


def _never_close() -> None:
    lifecycle.close_unfinished = _careless


MUTANTS: Final[dict[str, Callable[[], None]]] = {
    "": lambda: None,
    "late": lambda: _put("attempt", _late),
    "forgetful": lambda: _put("repeat", _forgetful),
    "eager": lambda: _put("retry", _eager),
    "generous": _never_use,
    "careless": _never_close,
}


def mutate(name: str) -> None:
    """Make this process's guard wrong."""
    MUTANTS[name]()
