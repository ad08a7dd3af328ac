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


async def tell(progress: Progress | None, message: Message) -> None:
    """Pass on how far a request has come, as far as that can be read."""
    if progress is None:
        return
    try:
        params = read_object(message.params)
    except ValueError:
        return
    done, total, text = (params.get(key) for key in ("progress", "total", "message"))
    if _is_number(done):
        known = total if _is_number(total) else None
        await progress(done, known, text if isinstance(text, str) else None)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
