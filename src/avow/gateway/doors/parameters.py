"""The parameters of each request that the gateway answers, and what is wrong with them."""

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from avow.connect.message import Message
from avow.connect.rpc import INVALID_PARAMS, RpcError


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


_FORMS: Final[Mapping[str, type[msgspec.Struct]]] = {
    "tools/list": _Listed,
    "tools/call": _Named,
    "prompts/list": _Listed,
    "prompts/get": _Named,
    "resources/list": _Listed,
    "resources/templates/list": _Listed,
    "resources/read": _Placed,
    "completion/complete": _Completed,
}


def parameters_of(message: Message) -> dict[str, Any]:
    """What a request says, checked as far as the gateway looks at it. Raises `RpcError`."""
    try:
        found: Any = msgspec.json.decode(message.params) if message.params else {}
        msgspec.convert(found, _FORMS.get(message.method or "", _Any))
    except (ValueError, RecursionError) as error:
        raise RpcError(INVALID_PARAMS, f"Invalid request parameters: {_why(error)}") from None
    return found


def _why(error: Exception) -> str:
    """What is wrong, without what stands there."""
    return str(error) if isinstance(error, msgspec.MsgspecError) else "they cannot be read"
