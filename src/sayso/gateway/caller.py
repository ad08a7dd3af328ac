"""The client of a request, and the forwarding of its server's questions and messages."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from sayso.connect import INTERNAL_ERROR, MOST_QUESTIONS, Fault, Link, RequestListener, RpcError
from sayso.gateway.asking import offered, question, questions
from sayso.guard import remove_own_meta
from sayso.workers import UndecidedError

ASK_SECONDS: Final = 600.0
"""The time for a client's answer, long because a person may have to look something up."""

_MAX_ROUNDS: Final = 20
_FIRST_PAUSE_SECONDS: Final = 0.05
_MAX_PAUSE_SECONDS: Final = 1.0

Questions = Mapping[str, Mapping[str, Any]]
"""The `method` and `params` of each question, by any key."""

Ask = Callable[[Questions], Awaitable[Mapping[str, Mapping[str, Any]]]]
"""A function that asks a client, and returns its answers by the same keys. Raises `RpcError`."""


@dataclass(slots=True)
class Caller:
    """A client's capabilities, and the functions that ask it and send to it.

    Callers with the same `owner` are the same client. `notify` waits until the client has received
    the message. `tell` does not wait, and may drop the message.
    """

    owner: object
    capabilities: Mapping[str, Any]
    ask: Ask
    notify: Callable[[str, Mapping[str, Any]], Awaitable[None]]
    tell: Callable[[str, Mapping[str, Any]], None]

    def listener(self, server: str, is_on: Callable[[], bool]) -> RequestListener:
        """Return the listener of a request for this client, which works while `is_on()` is true."""

        async def answer(method: str, params: Mapping[str, Any]) -> Mapping[str, Any]:
            check_is_on(server, is_on)
            asked = question(server, self.capabilities, method, params)
            answers = await self.ask({"1": {"method": method, "params": asked}})
            check_is_on(server, is_on)
            return answers["1"]

        async def forward(method: str, params: Mapping[str, Any]) -> None:
            if is_on():
                self.tell(method, params)
            # Yield, so that the client can receive this message before the next one comes.
            await asyncio.sleep(0)

        return RequestListener(self.owner, offered(self.capabilities), answer, forward)


def check_is_on(server: str, is_on: Callable[[], bool]) -> None:
    """Raise `RpcError` if the server or its caller was switched off since the request began."""
    if not is_on():
        raise RpcError(INTERNAL_ERROR, f"the server “{server}” or its caller is switched off")


async def converse(
    link: Link,
    method: str,
    params: Mapping[str, Any],
    caller: Caller | None,
    *,
    is_on: Callable[[], bool],
    timeout: float,
    **more: Any,
) -> dict[str, Any]:
    """Send a request, forward its server's questions to `caller`, and return its final result.

    A server of 2026-07-28 asks in a result, and gets the request again with the answers. `timeout`
    is the seconds for each request. Once `is_on` returns false, questions are refused and nothing
    more is sent; a result that still arrives is returned. Raises `RpcError`.
    """
    listener = caller and caller.listener(link.name, is_on)
    result = await link.request(method, params, timeout=timeout, listener=listener, **more)
    pause = _FIRST_PAUSE_SECONDS
    rounds = 0
    asked = 0
    while result.get("resultType") == "input_required":
        check_is_on(link.name, is_on)
        requests = result.get("inputRequests")
        state = result.get("requestState")
        again: dict[str, Any] = {}
        if requests:
            rounds += 1
            if caller is None:
                what = f"the server “{link.name}” asks a question, and no client can answer it"
                raise RpcError(INTERNAL_ERROR, what)
            put = questions(link.name, caller.capabilities, requests, MOST_QUESTIONS - asked)
            asked += len(put)
            again["inputResponses"] = await caller.ask(put)
        else:
            rounds += pause / timeout
            await asyncio.sleep(pause)
            pause = min(2 * pause, _MAX_PAUSE_SECONDS)
        if rounds > _MAX_ROUNDS:
            raise RpcError(INTERNAL_ERROR, f"the server “{link.name}” does not stop asking")
        check_is_on(link.name, is_on)
        if state is not None:
            again["requestState"] = state
        result = await link.request(
            method, {**params, **again}, timeout=timeout, listener=listener, **more
        )
    try:
        return await remove_own_meta(result, link.name)
    except UndecidedError as error:
        raise RpcError.none(Fault.LOST, "the server's answer takes too long to read") from error
