"""The step `precondition`: check the condition that a tool's author set for its calls."""

import copy
import inspect
import logging
from collections.abc import Mapping
from typing import Any, Final

from sayso.audit import Outcome
from sayso.catalog import Tool
from sayso.guard.call import Answer, Call, tool_error
from sayso.guard.context import GuardContext, Step
from sayso.policy import Effect

_log: Final = logging.getLogger(__name__)


async def unmet(tool: Tool, arguments: Mapping[str, Any]) -> str | None:
    """Return why the author's condition is not met; `None` if it is met.

    The condition is a function of a copy of the arguments. It is not met if the function raises.
    """
    when = tool.intent.when
    if when is None:
        return None
    try:
        holds = when(copy.deepcopy(dict(arguments)))
        if inspect.isawaitable(holds):
            holds = await holds
    except Exception:  # noqa: BLE001 - an author's function may raise anything
        _log.exception("the condition of %s failed", tool.name)
        holds = False
    if holds is True:
        return None
    reason = tool.intent.otherwise or f"“{tool.title}” cannot be used now"
    return f"{reason.rstrip('.')}. Nothing was run."


async def check_condition(_: GuardContext, call: Call) -> Answer | None:
    """Refuse the call if the author's condition is not met."""
    reason = await unmet(call.tool, call.arguments)
    if reason is None:
        return None
    call.outcome = Outcome.DENIED
    return tool_error(reason)


def _has_condition(call: Call) -> bool:
    return call.tool.intent.when is not None and call.decision.effect is not Effect.DENY


PRECONDITION: Final = Step("precondition", _has_condition, check_condition)
