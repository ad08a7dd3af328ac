"""Which calls a step has something to do with: past the others it is gone by.

A step that does nothing still costs a coroutine, and holds its frame for as long as the server
takes to answer. Each step holds to the same by itself: what stands here only spares it.
"""

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any, Final

from avow.guard.call import META_KEY, Answer, Call
from avow.guard.plans import has_plan
from avow.guard.steps.ceiling import ceiling
from avow.guard.steps.confirm import confirm
from avow.guard.steps.narrow import narrow
from avow.guard.steps.plan import plan
from avow.guard.steps.repeat import repeat
from avow.guard.steps.turn import turn
from avow.guard.steps.when import when
from avow.policy import Effect

Then = Callable[[Call], Awaitable[Answer]]
Concern = Callable[[Call], bool]


def _asks_once(call: Call) -> bool:
    return call.meta is not None and call.meta.get(META_KEY) is not None


CONCERNS: Final[Mapping[Any, Concern]] = {
    narrow: lambda call: call.found.intent.narrow is not None,
    turn: lambda call: call.turn is not None,
    ceiling: lambda call: call.through is not None,
    when: lambda call: call.found.intent.when is not None,
    repeat: _asks_once,
    plan: lambda call: has_plan(call.found.intent),
    confirm: lambda call: call.decided.effect is not Effect.ALLOW,
}


def joined(step: Callable[..., Awaitable[Answer]], guard: Any, then: Then) -> Then:
    """`step` before `then`; for a call that does not concern it, `then` alone."""
    concerns = CONCERNS.get(step)
    if concerns is None:
        return partial(step, guard, then=then)

    def go(call: Call) -> Awaitable[Answer]:
        return step(guard, call, then) if concerns(call) else then(call)

    return go
