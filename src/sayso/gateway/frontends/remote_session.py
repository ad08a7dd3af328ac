"""What belongs to a session and goes on in another process than the one its client has reached.

A question names the process that asked it, and its answer is brought there. Where a request runs,
or a stream is held open, nobody but that process knows, so all are told.
"""

from http import HTTPStatus
from typing import Any, Final, cast

import msgspec

from sayso.connect import Id, Message, read_message
from sayso.gateway.frontends.request import RefusedError
from sayso.gateway.frontends.sessions import SAY, Sessions
from sayso.gateway.replicas import GoneError, Handler

_ANSWER: Final = "answer"
_CANCEL: Final = "cancel"
_END: Final = "end"

_GONE: Final = (
    "outcome_unknown: the process that asked this is gone, and the call that waited for the answer "
    "with it. That call may have run or not. It was not sent again. Look at what it would have "
    "changed before doing anything else."
)


async def bring_answer(sessions: Sessions, name: str, message: Message) -> None:
    """Bring a client's answer to whoever asked; one that nobody asked for is dropped.

    Raises `RefusedError` where the process that asked is gone.
    """
    session = sessions.known(name)
    if session is not None and session.answered(message):
        return
    owner = message.id.rpartition("-")[0] if isinstance(message.id, str) else ""
    if not owner or owner == sessions.post.name:
        return
    try:
        await sessions.post.send(owner, _ANSWER, [name, _text(message)])
    except GoneError:
        raise RefusedError(HTTPStatus.GONE, _GONE) from None


async def cancel(sessions: Sessions, name: str, number: object) -> None:
    """End a request, wherever it runs."""
    session = sessions.known(name)
    if session is None or not session.cancel(number):
        await sessions.post.send_all(_CANCEL, [name, number])


async def end(sessions: Sessions, name: str) -> None:
    """End a session everywhere."""
    sessions.end(name)
    await sessions.post.send_all(_END, [name, None])


def handlers(sessions: Sessions) -> dict[str, Handler]:
    """How a process does what the others ask of it; `None` says that it is not about this one."""

    async def answer(body: Any) -> Any:
        session = sessions.known(body[0])
        if session is None:
            return None
        return session.answered(read_message(cast("str", body[1]).encode())) or None

    async def cancelled(body: Any) -> Any:
        session = sessions.known(body[0])
        return None if session is None else session.cancel(body[1]) or None

    async def ended(body: Any) -> Any:
        sessions.end(body[0])
        return True

    async def say(body: Any) -> Any:
        session = sessions.known(body[0])
        return None if session is None else session.say(cast("str", body[1]).encode()) or None

    return {_ANSWER: answer, _CANCEL: cancelled, _END: ended, SAY: say}


def _text(message: Message) -> str:
    number: Id | None = message.id
    told = {"error": message.error} if message.error else {"result": message.result}
    return msgspec.json.encode({"jsonrpc": "2.0", "id": number, **told}).decode()
