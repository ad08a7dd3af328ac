"""A JSON-RPC error: as a server answered it, or as the connection failed to bring an answer."""

import os
from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Final, cast

CONNECTION_LOST: Final = -32000
TIMED_OUT: Final = -32001
PARSE_ERROR: Final = -32700
METHOD_NOT_FOUND: Final = -32601

FAULT_KEY: Final = f"io.avow/fault-{os.urandom(8).hex()}"
"""Marks an error that avow's side made because no answer came, in the error's `data`.

Drawn anew in each process, so that no server can say it.
"""

_OWN_ERRORS: Final = {
    CONNECTION_LOST: ("Connection closed", "SSE stream "),
    PARSE_ERROR: ("Failed to parse ",),
    TIMED_OUT: ("Request ",),
}
"""How the errors begin that the SDK makes where no answer came.

Servers use the same codes for errors of theirs, as in `-32000 Server not initialized`.
"""


class Fault(StrEnum):
    """Why there is no answer."""

    NOT_SENT = "not_sent"
    LOST = "lost"
    TIMED_OUT = "timed_out"
    UNAUTHORIZED = "unauthorized"
    NOT_MCP = "not_mcp"
    REFUSED = "refused"
    EXPIRED = "expired"


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
        if isinstance(data, Mapping):
            marked = cast("Mapping[str, Any]", data).get(FAULT_KEY)
            if marked is not None:
                return cls(code, message, fault=Fault(marked))
        if data is not None or not message.startswith(_OWN_ERRORS.get(code, ())):
            return cls(code, message, data)
        if code == PARSE_ERROR:  # its words quote what could not be read
            return cls(code, "its answer cannot be read", fault=Fault.LOST)
        return cls(code, message, fault=Fault.TIMED_OUT if code == TIMED_OUT else Fault.LOST)
