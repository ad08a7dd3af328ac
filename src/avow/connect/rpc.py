"""A JSON-RPC error: as a server answered it, or as the connection failed to bring an answer."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Final, cast

CONNECTION_LOST: Final = -32000
TIMED_OUT: Final = -32001
PARSE_ERROR: Final = -32700
METHOD_NOT_FOUND: Final = -32601

FAULT_KEY: Final = "io.avow/fault"
"""Marks an error that avow's side made because no answer came, in the error's `data`."""


class Fault(StrEnum):
    """Why there is no answer."""

    NOT_SENT = "not_sent"
    LOST = "lost"
    TIMED_OUT = "timed_out"
    UNAUTHORIZED = "unauthorized"
    NOT_MCP = "not_mcp"
    REFUSED = "refused"


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
    def received(cls, code: int, message: str, data: Any) -> "RpcError":
        """An error as the SDK's dispatcher raises it, with the fault that its code or mark tells.

        The dispatcher itself answers for a closed connection, a timeout and unreadable text.
        """
        marked = (
            cast("Mapping[str, Any]", data).get(FAULT_KEY) if isinstance(data, Mapping) else None
        )
        if marked is not None:
            return cls(code, message, fault=Fault(marked))
        local = {CONNECTION_LOST: Fault.LOST, PARSE_ERROR: Fault.LOST, TIMED_OUT: Fault.TIMED_OUT}
        return cls(code, message, data, fault=local.get(code))
