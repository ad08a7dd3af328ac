"""Guards that are wrong in one way each, to show that what looks at a run would see it."""

from collections.abc import Callable
from typing import Any, Final

from avow.approvals import Approval, Approvals
from avow.audit import AuditLog, opening
from avow.connect import RpcError
from avow.guard import Call, Guard, pipeline
from avow.guard.pipeline import Then
from avow.guard.steps.attempt import attempt
from avow.guard.steps.repeat import repeat
from avow.guard.steps.retry import retry


async def _late(guard: Guard, call: Call, then: Then) -> dict[str, Any]:
    """Writes the attempt down once the call has run."""
    answer = await then(call)

    async def told(_: Call) -> dict[str, Any]:
        return answer

    return await attempt(guard, call, told)


async def _forgetful(_: Guard, call: Call, then: Then) -> dict[str, Any]:
    """Remembers no key."""
    return await then(call)


async def _eager(_: Guard, call: Call, then: Then) -> dict[str, Any]:
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


def _put(old: object, new: object) -> None:
    steps = tuple(new if one is old else one for one in pipeline.STEPS)
    pipeline.STEPS = steps  # pyright: ignore[reportConstantRedefinition, reportAttributeAccessIssue] - a mutant


def _never_use() -> None:
    Approvals.use = _generous


def _never_close() -> None:
    opening.close_unfinished = _careless


MUTANTS: Final[dict[str, Callable[[], None]]] = {
    "": lambda: None,
    "late": lambda: _put(attempt, _late),
    "forgetful": lambda: _put(repeat, _forgetful),
    "eager": lambda: _put(retry, _eager),
    "generous": _never_use,
    "careless": _never_close,
}


def mutate(name: str) -> None:
    """Make this process's guard wrong."""
    MUTANTS[name]()
