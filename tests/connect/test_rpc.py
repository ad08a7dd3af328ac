"""Errors that a server made are told from those that stand for an answer that never came."""

from typing import Any

import pytest

from avow.connect import Fault, RpcError
from avow.connect.rpc import FAULT_KEY


@pytest.mark.parametrize(
    ("code", "message", "fault"),
    [
        (-32000, "Connection closed", Fault.LOST),
        (-32000, "SSE stream ended without a response", Fault.LOST),
        (-32000, "SSE stream failed: an event is too large", Fault.LOST),
        (-32001, "Request 'tools/call' timed out", Fault.TIMED_OUT),
        (-32700, "Failed to parse JSON response: 1 validation error", Fault.LOST),
        (-32700, "Failed to parse SSE message: 1 validation error", Fault.LOST),
    ],
)
def test_an_error_of_the_sdk_says_that_no_answer_came(
    code: int, message: str, fault: Fault
) -> None:
    error = RpcError.received(code, message, None)

    assert error.fault is fault
    assert error.may_have_run
    assert "validation" not in str(error)


@pytest.mark.parametrize(
    ("code", "message", "data"),
    [
        (-32000, "Bad Request: Server not initialized", None),
        (-32000, "Connection closed", {"by": "the server itself"}),
        (-32001, "Session not found", None),
        (-32700, "Parse error", None),
        (-32603, "Connection closed", None),
        (-32602, "Unknown tool: x", ["x"]),
    ],
)
def test_a_servers_own_error_stays_what_it_is(code: int, message: str, data: Any) -> None:
    error = RpcError.received(code, message, data)

    assert (error.code, error.message, error.data) == (code, message, data)
    assert error.fault is None
    assert not error.may_have_run


@pytest.mark.parametrize("fault", Fault)
def test_a_marked_error_names_its_fault_and_hides_the_mark(fault: Fault) -> None:
    error = RpcError.received(-32000, "HTTP 502", {FAULT_KEY: str(fault)})

    assert (error.fault, error.data) == (fault, None)
    assert error.may_have_run is (fault in (Fault.LOST, Fault.TIMED_OUT))


@pytest.mark.parametrize("value", ["not_sent", "nonsense", None, 7])
def test_a_server_cannot_say_that_nothing_was_sent(value: object) -> None:
    data = {"io.avow/fault": value}

    assert RpcError.received(-32000, "no", data).data == data
    assert RpcError.received(-32000, "no", data).fault is None
