"""JSON-RPC errors of servers, and faults of connections."""

from contextlib import suppress
from enum import StrEnum
from typing import Any, Final

from sayso.connect.message import Message, read_object

INVALID_REQUEST: Final = -32600
METHOD_NOT_FOUND: Final = -32601
INVALID_PARAMS: Final = -32602
INTERNAL_ERROR: Final = -32603
PARSE_ERROR: Final = -32700
NO_ANSWER: Final = -32000
RESOURCE_NOT_FOUND: Final = -32002
HEADER_MISMATCH: Final = -32020
MISSING_CAPABILITY: Final = -32021
UNSUPPORTED_VERSION: Final = -32022


class Fault(StrEnum):
    """The reason for a missing answer."""

    NOT_SENT = "not_sent"
    LOST = "lost"
    TIMED_OUT = "timed_out"
    UNAUTHORIZED = "unauthorized"
    NOT_MCP = "not_mcp"
    REFUSED = "refused"
    EXPIRED = "expired"
    SENT_ON = "sent_on"


class RpcError(Exception):
    """An error response of a server, or with a `fault` a missing response."""

    def __init__(
        self, code: int, message: str, data: Any = None, *, fault: Fault | None = None
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data
        self.fault = fault

    @property
    def may_have_run(self) -> bool:
        return self.fault in (Fault.LOST, Fault.TIMED_OUT)

    @classmethod
    def none(cls, fault: Fault, message: str) -> "RpcError":
        return cls(NO_ANSWER, message, fault=fault)

    @classmethod
    def received(cls, message: Message) -> "RpcError":
        """Return the error that a server sent; defaults replace its malformed parts."""
        fields: dict[str, Any] = {}
        with suppress(ValueError):
            fields = read_object(message.error)
        code = fields.get("code")
        text = fields.get("message")
        if not isinstance(code, int):
            code = INTERNAL_ERROR
        if not isinstance(text, str):
            text = "the server's error cannot be read"
        return cls(code, text, fields.get("data"))
