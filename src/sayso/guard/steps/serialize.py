"""The step `serialize`: run reads and idempotent calls at once, and other calls in order."""

from typing import Final

from sayso.guard.call import Call
from sayso.guard.context import GuardContext, Step


async def take_turn(guard: GuardContext, call: Call) -> None:
    """Wait for this call's turn, so that the decision is made after the earlier calls have ended.

    If the call is cancelled during the wait, it is not decided and does not run.
    """
    turn = call.request.turn
    if turn is None:
        return
    resolved = call.tool.resolved
    if resolved.read_only.value or resolved.idempotent.value:
        turn.leave()
    else:
        await turn.take()
        # The policy may have changed during the wait.
        call.policy = guard.policy()


SERIALIZE: Final = Step("serialize", lambda call: call.request.turn is not None, take_turn)
