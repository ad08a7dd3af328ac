"""Serialize: reads and repeatable calls run at once, other calls of one agent in their order."""

from typing import Final

from sayso.guard.call import Call
from sayso.guard.context import GuardContext
from sayso.guard.step import Step


async def take_turn(guard: GuardContext, call: Call) -> None:
    """Go on when it is this call's turn, so that what is decided is decided of the world as it is.

    When cancelled while it waits, nothing was decided, and nothing runs.
    """
    turn = call.request.turn
    if turn is None:
        return
    resolved = call.tool.resolved
    if resolved.read_only.value or resolved.idempotent.value:
        turn.leave()
    else:
        await turn.take()
        # Who was switched to another mode meanwhile did not mean the calls before only.
        call.policy = guard.policy()


def _has_turn(call: Call) -> bool:
    return call.request.turn is not None


SERIALIZE: Final = Step("serialize", _has_turn, take_turn)
