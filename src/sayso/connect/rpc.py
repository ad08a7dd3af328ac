"""A JSON-RPC error: as a server answered it, or as the connection failed to bring an answer."""

from enum import StrEnum
from typing import Any, Final, cast

from sayso.connect.message import Message, read_value

INVALID_REQUEST: Final = -32600
METHOD_NOT_FOUND: Final = -32601
INVALID_PARAMS: Final = -32602
INTERNAL_ERROR: Final = -32603
PARSE_ERROR: Final = -32700
NO_ANSWER: Final = -32000
RESOURCE_NOT_FOUND: Final = -32002
MISSING_CAPABILITY: Final = -32003
HEADER_MISMATCH: Final = -32020
UNSUPPORTED_VERSION: Final = -32022


class Fault(StrEnum):
    """Why there is no answer."""

    NOT_SENT = "not_sent"
    LOST = "lost"
    TIMED_OUT = "timed_out"
    UNAUTHORIZED = "unauthorized"
    NOT_MCP = "not_mcp"
    REFUSED = "refused"
    EXPIRED = "expired"
    SENT_ON = "sent_on"


class RpcError(Exception):
    """The other side answered a request with an error, or `fault` says why there is no answer."""

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
        """Whether the request may have been carried out, though no answer came."""
        return self.fault in (Fault.LOST, Fault.TIMED_OUT)

    @classmethod
    def none(cls, fault: Fault, message: str) -> "RpcError":
        return cls(NO_ANSWER, message, fault=fault)

    @classmethod
    def received(cls, message: Message) -> "RpcError":
        """An error as a server sent it; one that is malformed is one all the same."""
        try:
            error: Any = read_value(message.error)
        except ValueError:
            error = None
        told = cast("dict[str, Any]", error) if isinstance(error, dict) else {}
        code = told.get("code")
        text = told.get("message")
        return cls(
            code if isinstance(code, int) else INTERNAL_ERROR,
            text if isinstance(text, str) else "the server's error cannot be read",
            told.get("data"),
        )
