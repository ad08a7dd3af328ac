"""Calls that a server answers later (the tasks extension of MCP 2026-07-28).

Clients get a sealed task id that contains the tool and is bound to the caller. So any replica can
find the server again, and other callers cannot get the result.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

from sayso.catalog import Tool
from sayso.connect import INVALID_PARAMS, METHOD_NOT_FOUND, MISSING_CAPABILITY, RpcError
from sayso.errors import SealError
from sayso.gateway.asking import questions
from sayso.gateway.request import Request
from sayso.gateway.upstreams import Upstreams
from sayso.guard import Guard, as_task, checked, protocol_params
from sayso.keys import Keyring
from sayso.policy import Principal

TASKS: Final = "io.modelcontextprotocol/tasks"

_BRINGS: Final = ("result", "error", "inputRequests")
"""The members of a task that carry its result, its error or its questions."""
_OVER: Final = "complete"
_PURPOSE: Final = "task"
_UNKNOWN: Final = "Unknown task"
_WITHHELD: Final = "the result does not fit the tool's output schema, so it is withheld"


def task_of(
    keys: Keyring, principal: Principal, tool: str, result: Mapping[str, Any]
) -> dict[str, Any]:
    """Return a server's task with its id sealed for the caller."""
    state = {"tool": tool, "id": result.get("taskId")}
    return {**result, "taskId": keys.seal(_PURPOSE, state, bound=_bound(principal))}


@dataclass(frozen=True, slots=True)
class Tasks:
    """Requests of callers about their tasks, forwarded to the servers that run them."""

    upstreams: Upstreams
    guard: Guard
    keys: Keyring

    async def forward(self, request: Request) -> dict[str, Any]:
        """Forward `tasks/get`, `tasks/update` or `tasks/cancel`.

        Raises `RpcError`; the error is the same for a missing task and for another caller's task.
        """
        if not request.is_modern or request.caller is None:
            raise RpcError(METHOD_NOT_FOUND, "Method not found", request.method)
        extensions: Any = request.caller.capabilities.get("extensions")
        if not isinstance(extensions, Mapping) or TASKS not in extensions:
            data: dict[str, Any] = {"requiredCapabilities": {"extensions": {TASKS: {}}}}
            what = f"the client does not declare the extension {TASKS}"
            raise RpcError(MISSING_CAPABILITY, what, data)
        sealed = request.params["taskId"]
        state = self._open(sealed, request.principal)
        tool = await self.upstreams.find_tool(state["tool"], request.principal)
        if tool is None or self.guard.sees(request.principal, tool) is None:
            raise RpcError(INVALID_PARAMS, _UNKNOWN)
        own = {key: value for key, value in request.params.items() if key != "_meta"}
        params = {**own, "taskId": state["id"], **protocol_params(request.params.get("_meta"))}
        view = self.upstreams.of(request.principal)
        received = await view.forward(
            self.upstreams.owner(tool.server), request.method, params, caller=request.caller
        )
        if "taskId" in received:
            received["taskId"] = sealed
        answer = as_task(received) | {key: received[key] for key in _BRINGS if key in received}
        if answer.get("result") is not None:
            result = await self._checked(tool, answer["result"], request.principal.caller)
            answer["result"] = await view.readdress(tool.server, result)
        if "inputRequests" in answer:
            can = request.caller.capabilities
            answer["inputRequests"] = questions(tool.server, can, answer["inputRequests"])
        return answer

    async def _checked(self, tool: Tool, result: object, caller: str) -> dict[str, Any]:
        # The result must be complete, because another task in its place would not be checked.
        answer = (
            cast("dict[str, Any]", result) if isinstance(result, dict) else {"resultType": None}
        )
        is_over = answer.get("resultType", _OVER) == _OVER
        valid = await checked(self.guard, tool, answer, caller=caller) if is_over else None
        if valid is None:
            raise RpcError(INVALID_PARAMS, _WITHHELD)
        return valid

    def _open(self, sealed: str, principal: Principal) -> dict[str, Any]:
        try:
            return self.keys.open(_PURPOSE, sealed, bound=_bound(principal))
        except SealError:
            raise RpcError(INVALID_PARAMS, _UNKNOWN) from None


def _bound(principal: Principal) -> dict[str, Any]:
    return {"subject": principal.account}
