"""The condition under which a tool's author lets it be called at all."""

import copy
import inspect
import logging
from collections.abc import Mapping
from typing import Any, Final

from sayso.catalog import Tool

_log: Final = logging.getLogger(__name__)


async def unmet(tool: Tool, arguments: Mapping[str, Any]) -> str | None:
    """What is said where the author's condition does not hold; `None` where it does.

    It is asked on a copy of the arguments. One that cannot be told does not hold.
    """
    when = tool.intent.when
    if when is None:
        return None
    try:
        holds = when(copy.deepcopy(dict(arguments)))
        holds = await holds if inspect.isawaitable(holds) else holds
    except Exception:  # noqa: BLE001 - an author's function may raise anything
        _log.exception("whether %s may be called cannot be told", tool.name)
        holds = False
    if holds is True:
        return None
    said = tool.intent.otherwise or f"“{tool.title}” cannot be used now"
    return f"{said.rstrip('.')}. Nothing was run."
