"""The client whose request is answered, as the server behind can reach it."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from sayso.connect import INTERNAL_ERROR, MOST_QUESTIONS, Fault, Link, RequestListener, RpcError
from sayso.gateway.asking import offered, question, questions
from sayso.guard import remove_own_meta
from sayso.workers import UndecidedError

ASK_SECONDS: Final = 600.0
"""How long a client may take to answer: there may be a person who has to find something out."""

_MOST_ROUNDS: Final = 20
_FIRST_PAUSE: Final = 0.05
_LONGEST_PAUSE: Final = 1.0

Questions = Mapping[str, Mapping[str, Any]]
"""By any key: `method` and `params`."""

Ask = Callable[[Questions], Awaitable[Mapping[str, Mapping[str, Any]]]]
"""Puts questions to a client and gives its answers by the same keys. Raises `RpcError`."""


@dataclass(slots=True)
class Caller:
    """A client's capabilities, and how it is asked and told. Any with the same `owner` will do.

    `notify` waits until the client takes it; `tell` never does, and drops what is too much.
    """

    owner: object
    capabilities: Mapping[str, Any]
    ask: Ask
    notify: Callable[[str, Mapping[str, Any]], Awaitable[None]]
    tell: Callable[[str, Mapping[str, Any]], None]

    def listener(self, server: str, is_on: Callable[[], bool]) -> RequestListener:
        """Return the listener of a request that is made for it, while `is_on`."""

        async def asked(method: str, params: Mapping[str, Any]) -> Mapping[str, Any]:
            check_is_on(server, is_on)
            put = question(server, self.capabilities, method, params)
            answers = await self.ask({"1": {"method": method, "params": put}})
            check_is_on(server, is_on)
            return answers["1"]

        async def heard(method: str, params: Mapping[str, Any]) -> None:
            if is_on():
                self.tell(method, params)
            # A client that keeps up gets its turn before the next one comes.
            await asyncio.sleep(0)

        return RequestListener(self.owner, offered(self.capabilities), asked, heard)


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
    """Return the result of one request, with the questions that its server asks answered.

    A server of 2026-07-28 asks by a result that wants the request made again with the answers.
    `timeout` is for each time, in seconds. Once it is not `is_on` any more, questions are refused
    and nothing more is sent; a result that comes all the same is returned. Raises `RpcError`.
    """
    listener = caller and caller.listener(link.name, is_on)
    result = await link.request(method, params, timeout=timeout, listener=listener, **more)
    pause = _FIRST_PAUSE
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
                what = f"the server “{link.name}” asks, and nobody can answer"
                raise RpcError(INTERNAL_ERROR, what)
            put = questions(link.name, caller.capabilities, requests, MOST_QUESTIONS - asked)
            asked += len(put)
            again["inputResponses"] = await caller.ask(put)
        else:
            rounds += pause / timeout
            await asyncio.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)
        if rounds > _MOST_ROUNDS:
            raise RpcError(INTERNAL_ERROR, f"the server “{link.name}” does not end asking")
        check_is_on(link.name, is_on)
        if state is not None:
            again["requestState"] = state
        result = await link.request(
            method, {**params, **again}, timeout=timeout, listener=listener, **more
        )
    try:
        return await remove_own_meta(result, link.name)
    except UndecidedError as error:
        raise RpcError.none(Fault.LOST, "its answer takes too long to read") from error
