"""Pending calls of clients of 2026-07-28 that are asking their user a question.

The response to such a call contains questions and a `requestState`. The client sends the same call
again with the answers and that state (MCP 2026-07-28, multi round-trip requests). Between these
requests the call stays pending, so it keeps its approval and its record over all rounds. The state
is sealed, bound to the caller and the call, expires, and is valid once.
"""

import asyncio
import secrets
import time
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Final, cast

import msgspec

from sayso.audit import Outcome
from sayso.connect import INTERNAL_ERROR, INVALID_PARAMS, RpcError
from sayso.errors import SealError, UsageError
from sayso.gateway.asking import is_asked
from sayso.gateway.caller import ASK_SECONDS, Questions
from sayso.gateway.replicas import GoneError, ReplicaClient
from sayso.gateway.request import Request
from sayso.guard import META_OUTCOME, digest_of, no_progress, tool_error
from sayso.keys import Keyring
from sayso.policy import Principal

_PURPOSE: Final = "round"
_MARK: Final = "round."
_ROUND: Final = "round"
"""The kind of message that forwards a round to the process with the pending call."""

_MAX_CALLS: Final = 1000
_MAX_CALLS_PER_CALLER: Final = 100
"""The maximum pending calls: of all callers, and (`_PER_CALLER`) of each authenticated caller."""

Result = dict[str, Any]
Work = Callable[[Request], Awaitable[Result]]


@dataclass(slots=True, eq=False)
class _Group:
    questions: Questions
    answers: "asyncio.Future[Mapping[str, Mapping[str, Any]]]"


@dataclass(slots=True, eq=False)
class PendingCall:
    """One pending call. `request` is the client's last request for it.

    `is_away`: the client has the last round's state and no open request. `bound` seals the states.
    """

    id: str
    request: Request
    pending_calls: "PendingCalls"
    task: "asyncio.Task[Result] | None" = None
    round: int = 0
    is_away: bool = False
    bound: dict[str, Any] | None = None
    open: _Group | None = None
    response: "asyncio.Future[Result] | None" = None
    groups: deque[_Group] = field(default_factory=deque[_Group])

    async def ask(self, questions: Questions) -> Mapping[str, Mapping[str, Any]]:
        self.pending_calls.hold(self)
        self.bound = self.bound or await _bound(self.request)
        group = _Group(questions, asyncio.get_running_loop().create_future())
        self.groups.append(group)
        self.put()
        try:
            async with asyncio.timeout(ASK_SECONDS):
                return await group.answers
        except TimeoutError:
            raise RpcError(INTERNAL_ERROR, "the client of this call gave no answer") from None
        finally:
            if self.open is group:
                self.open = None
            elif group in self.groups:
                self.groups.remove(group)

    def put(self) -> None:
        """Answer the client's open request with the next questions, if there are both."""
        response = self.response
        if response is None or response.done() or self.open is not None or not self.groups:
            return
        self.open = self.groups.popleft()
        self.round += 1
        self.is_away = True
        response.set_result(
            {
                "resultType": "input_required",
                "inputRequests": dict(self.open.questions),
                "requestState": self.pending_calls.seal(self),
            }
        )

    def tell(self, method: str, params: Mapping[str, Any]) -> None:
        caller = self.request.caller
        if caller is not None and self.response is not None:
            caller.tell(method, params)

    async def progress(self, done: float, total: float | None, text: str | None) -> None:
        if self.response is not None:
            await self.request.progress(done, total, text)

    async def answer(self, request: Request) -> Result:
        """Wait for the result or the next questions, and return them as the answer to `request`."""
        task = self.task
        assert task is not None  # noqa: S101 - it has begun
        self.request = request
        self.response = asyncio.get_running_loop().create_future()
        self.put()
        try:
            await asyncio.wait({task, self.response}, return_when=asyncio.FIRST_COMPLETED)
            if self.response.done():
                return self.response.result()
            self.pending_calls.forget(self)
            return task.result()
        except asyncio.CancelledError:
            # The request was cancelled, so the client will not send the call again with answers.
            self.is_away = False
            task.cancel()
            self.pending_calls.forget(self)
            raise
        finally:
            self.response = None


@dataclass(slots=True)
class PendingCalls:
    """The pending calls of this process. `name` identifies the process in their states."""

    keys: Keyring
    replica_client: ReplicaClient = field(default_factory=ReplicaClient)
    clock: Callable[[], float] = time.time
    name: str = ""
    _tasks: set[asyncio.Task[Result]] = field(default_factory=set[asyncio.Task[Result]])
    _held: dict[str, PendingCall] = field(default_factory=dict[str, PendingCall])

    def __post_init__(self) -> None:
        self.name = self.replica_client.name or secrets.token_hex(8)
        self.replica_client.handlers[_ROUND] = self._brought

    async def take(self, request: Request, work: Work) -> Result:
        """Do `work` for a request, or continue the pending call of the same request.

        Raises `RpcError`, and what `work` raises.
        """
        state = request.params.get("requestState")
        if isinstance(state, str) and state.startswith(_MARK):
            return await self._resume(request, state)
        caller = request.caller
        if caller is None or not request.is_modern or not is_asked(caller.capabilities):
            return await work(request)
        pending_call = PendingCall(secrets.token_hex(12), request, self)
        shown = replace(caller, owner=pending_call, ask=pending_call.ask, tell=pending_call.tell)
        inner = replace(request, caller=shown, progress=pending_call.progress)
        pending_call.task = asyncio.ensure_future(work(inner))
        self._tasks.add(pending_call.task)
        pending_call.task.add_done_callback(lambda task: self._ended(pending_call, task))
        return await pending_call.answer(request)

    @property
    def waiting(self) -> int:
        return len(self._held)

    def hold(self, pending_call: PendingCall) -> None:
        """Keep a call that asks its client. Raises `RpcError` if it ended, or too many wait."""
        if pending_call.task is None or pending_call.task.done():
            raise RpcError(INTERNAL_ERROR, "the call of this question is over")
        if pending_call.id not in self._held and not self._has_room(pending_call.request.principal):
            raise RpcError(INTERNAL_ERROR, "too many calls wait for their clients")
        self._held[pending_call.id] = pending_call

    def _has_room(self, principal: Principal) -> bool:
        if len(self._held) >= _MAX_CALLS or not principal.is_known:
            return len(self._held) < _MAX_CALLS
        held = (call.request.principal.account for call in self._held.values())
        return sum(account == principal.account for account in held) < _MAX_CALLS_PER_CALLER

    def seal(self, pending_call: PendingCall) -> str:
        state = {
            "at": self.name,
            "id": pending_call.id,
            "round": pending_call.round,
            "expires": self.clock() + ASK_SECONDS,
        }
        return _MARK + self.keys.seal(_PURPOSE, state, bound=pending_call.bound)

    async def close(self) -> None:
        """Cancel all calls and wait for their end."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _resume(self, request: Request, text: str) -> Result:
        try:
            sealed = text.removeprefix(_MARK)
            state: dict[str, Any] = self.keys.open(_PURPOSE, sealed, bound=await _bound(request))
        except (SealError, UsageError):
            what = "requestState belongs to another call or another caller"
            raise RpcError(INVALID_PARAMS, what) from None
        if state["at"] != self.name:
            return await self._bring(state["at"], request)
        pending_call = self._held.get(state["id"])
        is_due = (
            pending_call is not None
            and pending_call.is_away
            and pending_call.round == state["round"]
        )
        if pending_call is None or not is_due or self.clock() >= state["expires"]:
            raise RpcError(INVALID_PARAMS, "requestState was used before, or has expired")
        # Without an open round the server has continued without an answer; return its result.
        if (group := pending_call.open) is not None:
            group.answers.set_result(_answers(request.params, group))
            pending_call.open = None
        pending_call.is_away = False
        return await pending_call.answer(request)

    async def _bring(self, holder: str, request: Request) -> Result:
        body = {"method": request.method, "params": request.params, "version": request.version}
        caller = {"principal": msgspec.json.encode(request.principal).decode()}
        try:
            reply = await self.replica_client.send(holder, _ROUND, {**body, **caller}, ASK_SECONDS)
        except GoneError:
            return _lost(request)
        if "error" in reply:
            raise RpcError(*reply["error"])
        return msgspec.json.decode(reply["result"])

    async def _brought(self, body: Any) -> Any:
        principal = msgspec.json.decode(body["principal"], type=Principal)
        request = Request(
            body["method"], body["params"], body["version"], principal, progress=no_progress
        )
        try:
            result = await self._resume(request, body["params"]["requestState"])
        except RpcError as error:
            return {"error": [error.code, error.message, error.data]}
        return {"result": msgspec.json.encode(result).decode()}

    def forget(self, pending_call: PendingCall) -> None:
        self._held.pop(pending_call.id, None)

    def _ended(self, pending_call: PendingCall, task: "asyncio.Task[Result]") -> None:
        self._tasks.discard(task)
        if pending_call.is_away:
            # The call ran: keep its result until the client's state expires.
            asyncio.get_running_loop().call_later(ASK_SECONDS, self.forget, pending_call)
        else:
            self.forget(pending_call)
        if not task.cancelled():
            task.exception()  # mark as retrieved: the client has the exception, or has left


@asynccontextmanager
async def open_pending_calls(
    keys: Keyring, replica_client: ReplicaClient | None = None
) -> AsyncGenerator[PendingCalls]:
    """Yield the pending calls of a process; leaving the context cancels them."""
    pending_calls = PendingCalls(keys, replica_client or ReplicaClient())
    try:
        yield pending_calls
    finally:
        await pending_calls.close()


async def _bound(request: Request) -> dict[str, Any]:
    params = request.params
    own = {key: params[key] for key in ("name", "uri", "arguments") if key in params}
    principal = request.principal
    return {
        "subject": principal.account,
        "client": principal.client,
        "method": request.method,
        "request": await digest_of(own, principal.caller),
    }


def _answers(params: Mapping[str, Any], group: _Group) -> Mapping[str, Mapping[str, Any]]:
    value: Any = params.get("inputResponses")
    responses = cast("dict[str, Any]", value) if isinstance(value, dict) else {}
    missing = [key for key in group.questions if not isinstance(responses.get(key), dict)]
    if missing:
        # Keep the round open, because the client may send the missing answers in another request.
        raise RpcError(INVALID_PARAMS, f"inputResponses lacks {', '.join(missing)}")
    return {key: responses[key] for key in group.questions}


def _lost(request: Request) -> Result:
    text = (
        "The gateway was restarted while this call waited for an answer: it may have run or not. "
        "Look at what it would have changed before doing anything else."
    )
    if request.method != "tools/call":
        raise RpcError(INVALID_PARAMS, "requestState belongs to a request that no longer exists")
    return tool_error(text, **{META_OUTCOME: str(Outcome.OUTCOME_UNKNOWN)})
