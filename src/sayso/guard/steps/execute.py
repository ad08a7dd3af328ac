"""Execute: the call goes to its server, once."""

import asyncio
from typing import Final

from sayso.connect import RpcError
from sayso.errors import AuthenticationError, UnreachableError
from sayso.guard.call import Answer, Call
from sayso.guard.context import GuardContext
from sayso.guard.shutdown import GivenUpError
from sayso.guard.step import Step, every_call

_ENDS: Final = "sayso ends, and waits for no server any more"


async def execute(guard: GuardContext, call: Call) -> Answer:
    """Run it. Raises what the server answered with, or that it may or cannot have run.

    A try that did not reach the server takes nothing back of an earlier one. Where the process
    ends before the answer is there, or a person stops the call, that is raised; other
    cancellations go on.
    """
    shutdown = guard.shutdown
    task = asyncio.current_task()
    if shutdown.is_over:
        raise GivenUpError(_ENDS)
    was_sent = call.is_sent
    shutdown.tasks.add(task)
    try:
        with guard.active_calls.hold(call):
            return await guard.run(call)
    except asyncio.CancelledError:
        if not shutdown.is_over or task is None:
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
        raise UnreachableError(error.message, where=call.tool.server) from error
    finally:
        shutdown.tasks.discard(task)


EXECUTE: Final = Step("execute", every_call, execute)
