"""The step `execute`: send the call to its server, once."""

import asyncio
from typing import Final

from sayso.connect import RpcError
from sayso.errors import AuthenticationError, UnreachableError
from sayso.guard.call import Answer, Call
from sayso.guard.context import GuardContext, Step, every_call
from sayso.guard.shutdown import GivenUpError

_ENDS: Final = "sayso is shutting down and no longer waits for servers"


async def execute(guard: GuardContext, call: Call) -> Answer:
    """Run the call. Raises the server's error, or an error that says whether the call may have run.

    If the server was not reached, `is_sent` is reset to its earlier value. Raises `GivenUpError` if
    the process ends before the answer arrives or a person stops the call.
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
