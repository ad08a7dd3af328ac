"""When: a tool may say under which conditions it may be called at all."""

import inspect
import logging
from typing import TYPE_CHECKING, Final

from avow.audit import Outcome
from avow.guard.call import Answer, Call, tool_error
from avow.policy import Effect

if TYPE_CHECKING:
    from avow.guard.pipeline import Guard, Then

_log: Final = logging.getLogger(__name__)


async def when(guard: "Guard", call: Call, then: "Then") -> Answer:  # noqa: ARG001 - a step
    """Go on where the author's condition holds; one that cannot be told does not hold."""
    intent = call.found.intent
    if intent.when is None or call.decided.effect is Effect.DENY:
        return await then(call)
    try:
        holds = intent.when(call.arguments)
        holds = await holds if inspect.isawaitable(holds) else holds
    except Exception:  # noqa: BLE001 - an author's function may raise anything
        _log.exception("whether %s may be called cannot be told", call.name)
        holds = False
    if holds is True:
        return await then(call)
    call.outcome = Outcome.DENIED
    said = intent.otherwise or f"“{call.found.title}” cannot be used now"
    return tool_error(f"{said.rstrip('.')}. Nothing was run.")
