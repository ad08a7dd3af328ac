"""One call's intent: narrower than its tool's where the tool's author can tell, never wider."""

import copy
import inspect
import logging
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

import anyio

from sayso.catalog import Tool
from sayso.errors import UsageError
from sayso.intent import HINT_NAMES, LOOSER, Hints, Intent, Resolved, ResolvedIntent, Source

_NARROW_SECONDS: Final = 10.0

_log: Final = logging.getLogger(__name__)


async def narrowed(tool: Tool, arguments: Mapping[str, Any]) -> Tool:
    """The tool as it is for a call with these arguments.

    Where the author's `narrow` fails, or takes longer than 10 s, the tool's own intent stands. What
    the operator says stands in any case. Raises `UsageError` for an intent that is wider than the
    tool's: then one of the two is wrong, and nobody knows which.
    """
    narrow = tool.intent.narrow
    if narrow is None:
        return tool
    try:
        with anyio.fail_after(_NARROW_SECONDS):
            said = narrow(copy.deepcopy(dict(arguments)))
            said = await said if inspect.isawaitable(said) else said
    except Exception:  # noqa: BLE001 - an author's function may raise anything
        _log.exception("%s: narrowing a call of %s failed", tool.server, tool.name)
        return tool
    hints = said.hints if isinstance(said, Intent) else said
    if hints is None:
        return tool
    if not isinstance(hints, Hints):
        raise UsageError("narrow must give hints, an intent or None", where=tool.name)
    return replace(tool, resolved=_narrowed(tool, hints))


def _narrowed(tool: Tool, hints: Hints) -> ResolvedIntent:
    found: dict[str, Resolved] = {}
    for name in HINT_NAMES:
        whole = tool.resolved[name]
        value = hints[name]
        if value is None or value is whole.value or whole.source is Source.OPERATOR:
            found[name] = whole
        elif value is LOOSER[name]:
            found[name] = Resolved(value, Source.DECLARED)
        elif hints.read_only and name in ("destructive", "idempotent"):
            found[name] = whole  # means nothing on what only reads
        else:
            raise UsageError(f"a call's {name} is wider than the tool's", where=tool.name)
    if found["read_only"].value:
        source = found["read_only"].source
        found |= {name: Resolved(LOOSER[name], source) for name in ("destructive", "idempotent")}
    return ResolvedIntent(**found)
