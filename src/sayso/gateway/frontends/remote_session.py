"""Messages about a session between the processes of a gateway.

A question names the process that asked it, so its answer is sent to that process. It is unknown
which process runs a request or holds a stream, so messages about these are sent to all processes.
"""

from http import HTTPStatus
from typing import Any, Final, cast

import msgspec

from sayso.connect import Message, read_message
from sayso.gateway.frontends.request import RefusedError
from sayso.gateway.frontends.sessions import SAY, Sessions
from sayso.gateway.replicas import GoneError, Handler

_ANSWER: Final = "answer"
_CANCEL: Final = "cancel"
_END: Final = "end"

_GONE: Final = (
    "outcome_unknown: the process that asked this has ended, and so has the call that waited for "
    "the answer. That call may have run or not. It was not sent again. Look at what it would have "
    "changed before doing anything else."
)


async def send_answer(sessions: Sessions, name: str, message: Message) -> None:
    """Send a client's answer to the process that asked; drop an answer to an unknown question.

    Raises `RefusedError` if that process has ended.
    """
    session = sessions.known(name)
    if session is not None and session.answered(message):
        return
    owner = str(message.id).rpartition("-")[0]
    if not isinstance(message.id, str) or not owner or owner == sessions.replica_client.name:
        return
    try:
        await sessions.replica_client.send(owner, _ANSWER, [name, _text(message)])
    except GoneError:
        raise RefusedError(HTTPStatus.GONE, _GONE) from None


async def cancel(sessions: Sessions, name: str, number: object) -> None:
    """Cancel a request of a session in all processes."""
    session = sessions.known(name)
    if session is None or not session.cancel(number):
        await sessions.replica_client.send_all(_CANCEL, [name, number])


async def end(sessions: Sessions, name: str) -> None:
    """End a session in all processes."""
    sessions.end(name)
    await sessions.replica_client.send_all(_END, [name, None])


def handlers(sessions: Sessions) -> dict[str, Handler]:
    """Return the handlers of messages from other processes."""

    async def answer(body: Any) -> Any:
        session = sessions.known(body[0])
        message = read_message(cast("str", body[1]).encode())
        return (session and session.answered(message)) or None

    async def cancelled(body: Any) -> Any:
        session = sessions.known(body[0])
        return (session and session.cancel(body[1])) or None

    async def ended(body: Any) -> Any:
        sessions.end(body[0])
        return True

    async def say(body: Any) -> Any:
        session = sessions.known(body[0])
        return (session and session.say(cast("str", body[1]).encode())) or None

    return {_ANSWER: answer, _CANCEL: cancelled, _END: ended, SAY: say}


def _text(message: Message) -> str:
    response: dict[str, Any] = {"jsonrpc": "2.0", "id": message.id}
    if message.error:
        response["error"] = message.error
    else:
        response["result"] = message.result
    return msgspec.json.encode(response).decode()
