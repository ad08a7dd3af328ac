"""Precondition: a tool may say under which conditions it may be called at all."""

import copy
import inspect
import logging
from collections.abc import Mapping
from typing import Any, Final

from sayso.audit import Outcome
from sayso.catalog import Tool
from sayso.guard.call import Answer, Call, tool_error
from sayso.guard.context import GuardContext
from sayso.guard.step import Step
from sayso.policy import Effect

_log: Final = logging.getLogger(__name__)


async def unmet(tool: Tool, arguments: Mapping[str, Any]) -> str | None:
    """Return why the author's condition does not hold; `None` where it does.

    It gets a copy of the arguments. A condition that fails does not hold.
    """
    when = tool.intent.when
    if when is None:
        return None
    try:
        holds = when(copy.deepcopy(dict(arguments)))
        if inspect.isawaitable(holds):
            holds = await holds
    except Exception:  # noqa: BLE001 - an author's function may raise anything
        _log.exception("whether %s may be called cannot be told", tool.name)
        holds = False
    if holds is True:
        return None
    reason = tool.intent.otherwise or f"“{tool.title}” cannot be used now"
    return f"{reason.rstrip('.')}. Nothing was run."


async def check_condition(_: GuardContext, call: Call) -> Answer | None:
    """Go on where the author's condition holds."""
    reason = await unmet(call.tool, call.arguments)
    if reason is None:
        return None
    call.outcome = Outcome.DENIED
    return tool_error(reason)


def _has_condition(call: Call) -> bool:
    return call.tool.intent.when is not None and call.decision.effect is not Effect.DENY


PRECONDITION: Final = Step("precondition", _has_condition, check_condition)
