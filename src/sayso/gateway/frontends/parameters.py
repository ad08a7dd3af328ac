"""The parameters of each request that the gateway answers, validated."""

import gc
import time
from collections.abc import Mapping
from typing import Any, Final

import msgspec

from sayso.connect import INVALID_PARAMS, LISTS, Message, RpcError
from sayso.slices import LARGE_BYTES, rest_since


class _Any(msgspec.Struct):
    _meta: dict[str, Any] | None = None


class _Listed(_Any):
    cursor: str | None = None


class _Named(_Any, kw_only=True):
    name: str
    arguments: dict[str, Any] | None = None


class _Placed(_Any, kw_only=True):
    uri: str


class _Prompt(msgspec.Struct, tag_field="type", tag="ref/prompt"):
    name: str


class _Resource(msgspec.Struct, tag_field="type", tag="ref/resource"):
    uri: str


class _Argument(msgspec.Struct):
    name: str
    value: str


class _Completed(_Any, kw_only=True):
    ref: _Prompt | _Resource
    argument: _Argument


class _Task(_Any, kw_only=True):
    task_id: str = msgspec.field(name="taskId")


class _Level(_Any, kw_only=True):
    level: str


class _Listening(_Any, kw_only=True):
    notifications: dict[str, Any]


_FORMS: Final[Mapping[str, type[msgspec.Struct]]] = {
    "tools/list": _Listed,
    "tools/call": _Named,
    "prompts/list": _Listed,
    "prompts/get": _Named,
    "resources/list": _Listed,
    "resources/templates/list": _Listed,
    "resources/read": _Placed,
    "completion/complete": _Completed,
    "tasks/get": _Task,
    "tasks/update": _Task,
    "tasks/cancel": _Task,
    "logging/setLevel": _Level,
    "resources/subscribe": _Placed,
    "resources/unsubscribe": _Placed,
    "subscriptions/listen": _Listening,
}


async def read_parameters(message: Message) -> dict[str, Any]:
    """Return the parameters of a request; those that the gateway uses are validated.

    Raises `RpcError`. After parsing large parameters, this yields to other tasks.
    """
    if len(message.params) <= LARGE_BYTES:
        return parameters_of(message)
    begun = time.perf_counter()
    # Pause the garbage collector, which runs every few hundred lists and takes most of the time.
    was_collecting = gc.isenabled()
    gc.disable()
    try:
        params = parameters_of(message)
    finally:
        if was_collecting:
            gc.enable()
    await rest_since(begun)
    return params


def parameters_of(message: Message) -> dict[str, Any]:
    """Return the parameters of a request, checked. Raises `RpcError`."""
    try:
        params: Any = msgspec.json.decode(message.params) if message.params else {}
        msgspec.convert(params, _FORMS.get(message.method or "", _Any))
    except msgspec.MsgspecError as error:
        raise RpcError(INVALID_PARAMS, f"Invalid request parameters: {error}") from None
    except (ValueError, RecursionError):
        # The error's text is left out, because it may quote the parameters.
        what = "Invalid request parameters: they cannot be read"
        raise RpcError(INVALID_PARAMS, what) from None
    if params.get("cursor") is not None and message.method in LISTS:
        # A list has one page, since many clients never request a second one.
        raise RpcError(INVALID_PARAMS, "Invalid cursor: every list here has one page")
    return params
