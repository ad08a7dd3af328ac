"""Execute: the call goes to its server, once."""

from typing import TYPE_CHECKING

from avow.connect import RpcError
from avow.errors import AuthenticationError, UnreachableError
from avow.guard.call import Answer, Call

if TYPE_CHECKING:
    from avow.guard.pipeline import Guard, Then


async def execute(guard: "Guard", call: Call, then: "Then") -> Answer:  # noqa: ARG001 - the last step; there is no `then`
    """Run it. Raises what the server answered with, or that it may or cannot have run.

    A try that did not reach the server takes nothing back of an earlier one.
    """
    was_sent = call.is_sent
    try:
        return await guard.run(call)
    except (UnreachableError, AuthenticationError):
        call.is_sent = was_sent
        raise
    except RpcError as error:
        if error.fault is None or error.may_have_run:
            raise
        call.is_sent = was_sent
        raise UnreachableError(error.message, where=call.found.server) from error
