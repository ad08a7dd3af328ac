"""The step `ceiling`: a call through a meta-tool may change no more than the meta-tool itself."""

from typing import Final

from sayso.audit import Outcome
from sayso.guard.call import Answer, Call, tool_error
from sayso.guard.context import GuardContext, Step
from sayso.intent import Level

_ORDER: Final = tuple(Level)


async def check_ceiling(_: GuardContext, call: Call) -> Answer | None:
    """Refuse a call whose level is above its meta-tool's.

    A client may run a meta-tool without asking because of the meta-tool's hints. So those hints
    must be true for every tool that the meta-tool calls.
    """
    through = call.request.through
    level = call.tool.level
    if through is None or _ORDER.index(level) <= _ORDER.index(through.max_level):
        return None
    call.outcome = Outcome.DENIED
    return tool_error(
        f"Nothing was run: “{through.called}” is a {level} tool, which {through.tool} must not "
        f"call. Use call_{level}_tool."
    )


CEILING: Final = Step("ceiling", lambda call: call.request.through is not None, check_ceiling)
