"""What a server says unasked: notifications, and questions of its own."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from avow.connect.message import Message, read_object, write_error, write_result
from avow.connect.rpc import INTERNAL_ERROR, METHOD_NOT_FOUND, RpcError

Progress = Callable[[float, float | None, str | None], Awaitable[None]]
Notified = Callable[[str, Mapping[str, Any]], Awaitable[None]]
Asked = Callable[[str, Mapping[str, Any]], Awaitable[Mapping[str, Any]]]

PROGRESS: Final = "notifications/progress"


async def ignore(_method: str, _params: Mapping[str, Any]) -> None:
    """Take no notice of a server's notifications."""


async def offer_nothing(method: str, _params: Mapping[str, Any]) -> Mapping[str, Any]:
    """Answer a server's question: only whether avow is there."""
    if method == "ping":
        return {}
    raise RpcError(METHOD_NOT_FOUND, f"avow does not offer {method}")


@dataclass(frozen=True, slots=True)
class Inbox:
    """Who is told of what a server says unasked, and who answers its questions."""

    notified: Notified = ignore
    asked: Asked = offer_nothing

    async def notify(self, message: Message) -> None:
        """Pass a notification on; one that cannot be read is nobody's."""
        try:
            params = read_object(message.params)
        except ValueError:
            return
        await self.notified(message.method or "", params)

    async def answer(self, message: Message) -> bytes:
        """The answer to a server's question, to be sent back."""
        try:
            params = read_object(message.params)
            return write_result(message.id, await self.asked(message.method or "", params))
        except RpcError as error:
            return write_error(message.id, error.code, error.message, error.data)
        except ValueError as error:
            return write_error(message.id, INTERNAL_ERROR, str(error))


def with_token(
    params: Mapping[str, Any], number: int, progress: Progress | None
) -> Mapping[str, Any]:
    """With the token under which progress is told, where somebody wants to know."""
    if progress is None:
        return params
    return {**params, "_meta": {**(params.get("_meta") or {}), "progressToken": number}}


async def tell(progress: Progress | None, message: Message) -> None:
    """Pass on how far a request has come, as far as that can be read."""
    if progress is None:
        return
    try:
        params = read_object(message.params)
    except ValueError:
        return
    done, total = _number(params.get("progress")), _number(params.get("total"))
    text = params.get("message")
    if done is not None:
        await progress(done, total, text if isinstance(text, str) else None)


def _number(value: object) -> float | None:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None
