"""Execute: the call goes to its server, once."""

import asyncio
from typing import TYPE_CHECKING, Final

from avow.connect import RpcError
from avow.errors import AuthenticationError, UnreachableError
from avow.guard.call import Answer, Call
from avow.guard.ending import GivenUpError

if TYPE_CHECKING:
    from avow.guard.pipeline import Guard, Then


_ENDS: Final = "avow ends, and waits for no server any more"


async def execute(guard: "Guard", call: Call, then: "Then") -> Answer:  # noqa: ARG001 - the last step; there is no `then`
    """Run it. Raises what the server answered with, or that it may or cannot have run.

    A try that did not reach the server takes nothing back of an earlier one. Where the process
    ends before the answer is there, or a person stops the call, that is raised; other
    cancellations go on.
    """
    ending, task = guard.ending, asyncio.current_task()
    if ending.is_over:
        raise GivenUpError(_ENDS)
    was_sent = call.is_sent
    ending.running.add(task)
    try:
        with guard.running.hold(call):
            return await guard.run(call)
    except asyncio.CancelledError:
        if not ending.is_over or task is None:
            raise
        task.uncancel()
        raise GivenUpError(_ENDS) from None
    except (UnreachableError, AuthenticationError):
        call.is_sent = was_sent
        raise
    except RpcError as error:
        if error.fault is None or error.may_have_run:
            raise
        call.is_sent = was_sent
        raise UnreachableError(error.message, where=call.found.server) from error
    finally:
        ending.running.discard(task)
