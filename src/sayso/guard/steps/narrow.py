"""The step `narrow`: let the tool's author narrow the intent of a call, but not widen it."""

import copy
import inspect
import logging
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

import anyio

from sayso.audit import Outcome
from sayso.catalog import Tool
from sayso.errors import UsageError
from sayso.guard.call import Answer, Call, tool_error
from sayso.guard.context import GuardContext, Step
from sayso.intent import HINT_NAMES, LOOSER, Hints, Intent, Resolved, ResolvedIntent, Source
from sayso.policy import facts_of

_NARROW_SECONDS: Final = 10.0

_log: Final = logging.getLogger(__name__)


async def narrowed(tool: Tool, arguments: Mapping[str, Any]) -> Tool:
    """Return the tool with its intent for these arguments.

    If the author's `narrow` fails, or takes longer than 10 s, the tool keeps its intent. Hints that
    the operator set never change. Raises `UsageError` if `narrow` returns an intent wider than the
    tool's, because then one of them is wrong, or a value of another type.
    """
    narrow = tool.intent.narrow
    if narrow is None:
        return tool
    try:
        with anyio.fail_after(_NARROW_SECONDS):
            hints = narrow(copy.deepcopy(dict(arguments)))
            if inspect.isawaitable(hints):
                hints = await hints
    except Exception:  # noqa: BLE001 - an author's function may raise anything
        _log.exception("%s: narrowing a call of %s failed", tool.server, tool.name)
        return tool
    if isinstance(hints, Intent):
        hints = hints.hints
    if hints is None:
        return tool
    if not isinstance(hints, Hints):
        raise UsageError("narrow must return hints, an intent or None", where=tool.name)
    return replace(tool, resolved=_narrowed(tool, hints))


def _narrowed(tool: Tool, hints: Hints) -> ResolvedIntent:
    resolved: dict[str, Resolved] = {}
    for name in HINT_NAMES:
        whole = tool.resolved[name]
        value = hints[name]
        if value is None or value is whole.value or whole.source is Source.OPERATOR:
            resolved[name] = whole
        elif value is LOOSER[name]:
            resolved[name] = Resolved(value, Source.DECLARED)
        elif hints.read_only and name in ("destructive", "idempotent"):
            resolved[name] = whole  # this hint has no meaning for a call that only reads
        else:
            raise UsageError(f"a call's {name} is wider than the tool's", where=tool.name)
    if resolved["read_only"].value:
        source = resolved["read_only"].source
        resolved |= {name: Resolved(LOOSER[name], source) for name in ("destructive", "idempotent")}
    return ResolvedIntent(**resolved)


async def narrow(guard: GuardContext, call: Call) -> Answer | None:
    """Put the narrowed intent on the call; refuse an intent that is wider than the tool's."""
    try:
        tool = await narrowed(call.tool, call.arguments)
    except UsageError as error:
        _log.error("%s", error)
        await guard.audit.refused(call.id, call.principal, name=call.name, outcome=Outcome.FAILED)
        return tool_error("Nothing was run: what this call would do is not what its tool declares.")
    if tool is not call.tool:
        call.tool = tool
        call.tool_facts = facts_of(tool)
    return None


NARROW: Final = Step("narrow", lambda call: call.tool.intent.narrow is not None, narrow)
