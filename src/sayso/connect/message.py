"""JSON-RPC 2.0 messages as bytes: only the envelope is parsed, the content stays unchanged."""

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import Any, Final, cast

import msgspec

Id = int | str

NOTHING: Final = msgspec.Raw(b"")


class Message(msgspec.Struct, gc=False):
    """A request (`id` and `method`), a notification (`method`), or a response (`id` alone).

    `params`, `result` and `error` are JSON as received, or empty.
    """

    jsonrpc: str = ""
    id: Id | None = None
    method: str | None = None
    params: msgspec.Raw = NOTHING
    result: msgspec.Raw = NOTHING
    error: msgspec.Raw = NOTHING

    @property
    def is_response(self) -> bool:
        return self.method is None and bool(self.result or self.error)


_TOO_DEEP: Final = "the message is nested too deeply"
_parts: Final = msgspec.json.Decoder(dict[str, msgspec.Raw])
_decoder: Final = msgspec.json.Decoder(Message)
_encode: Final = msgspec.json.Encoder().encode


def read_message(data: bytes) -> Message:
    """Read one message; bytes that are not UTF-8 are replaced. Raises `ValueError`."""
    try:
        data.decode()
    except UnicodeDecodeError:
        data = data.decode(errors="replace").encode()
    try:
        found = _decoder.decode(data)
    except RecursionError:
        raise ValueError(_TOO_DEEP) from None
    if found.jsonrpc != "2.0" or not (found.method or found.is_response):
        raise ValueError("not a JSON-RPC 2.0 message")
    return found


def read_value(raw: msgspec.Raw) -> Any:
    """Read a value inside a message. Raises `ValueError`."""
    try:
        return msgspec.json.decode(raw)
    except RecursionError:
        raise ValueError(_TOO_DEEP) from None


def read_object(raw: msgspec.Raw) -> dict[str, Any]:
    """Read an object inside a message; `{}` if `raw` is empty. Raises `ValueError`."""
    if not raw:
        return {}
    found = read_value(raw)
    if not isinstance(found, dict):
        raise ValueError("the value must be an object")  # noqa: TRY004 - the received data is wrong, not an argument
    return cast("dict[str, Any]", found)


def read_parts(raw: msgspec.Raw, kept: AbstractSet[str]) -> dict[str, Any]:
    """Read an object, but leave the members in `kept` as raw JSON. Raises `ValueError`."""
    try:
        found = _parts.decode(raw)
    except RecursionError:
        raise ValueError(_TOO_DEEP) from None
    return {key: part if key in kept else read_value(part) for key, part in found.items()}


def write_request(number: Id, method: str, params: Mapping[str, Any]) -> bytes:
    """Write a request. Raises `ValueError` or `TypeError` if it is not JSON."""
    return _encode({"jsonrpc": "2.0", "id": number, "method": method, "params": params})


def write_notification(method: str, params: Mapping[str, Any] | None = None) -> bytes:
    """Write a notification."""
    message: dict[str, Any] = {"jsonrpc": "2.0", "method": method}
    if params:
        message["params"] = params
    return _encode(message)


def write_result(number: Id | None, result: Any) -> bytes:
    """Write a response; `msgspec.Raw` values in `result` are written unchanged."""
    return _encode({"jsonrpc": "2.0", "id": number, "result": result})


def write_error(number: Id | None, code: int, message: str, data: Any = None) -> bytes:
    """Write an error response."""
    error: dict[str, Any] = {"code": code, "message": message}
    if data is not None:
        error["data"] = data
    return _encode({"jsonrpc": "2.0", "id": number, "error": error})


def in_one_line(body: bytes) -> bytes:
    """Return a message without line breaks; JSON has them only between values."""
    return body.replace(b"\r", b" ").replace(b"\n", b" ")
