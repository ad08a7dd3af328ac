"""Errors that a server made are told from those that stand for an answer that never came."""

import json
from typing import Any

import pytest

from sayso.connect import Fault, RpcError
from sayso.connect.message import read_message


def received(error: Any) -> RpcError:
    message = {"jsonrpc": "2.0", "id": 1, "error": error}
    return RpcError.received(read_message(json.dumps(message).encode()))


@pytest.mark.parametrize(
    ("code", "message", "data"),
    [
        (-32000, "Bad Request: Server not initialized", None),
        (-32000, "Connection closed", {"by": "the server itself"}),
        (-32000, "Connection closed", None),
        (-32001, "Session not found", None),
        (-32001, "Request 'tools/call' timed out", None),
        (-32700, "Failed to parse JSON response", None),
        (-32602, "Unknown tool: x", ["x"]),
    ],
)
def test_a_servers_own_error_stays_what_it_is(code: int, message: str, data: Any) -> None:
    told = {"code": code, "message": message} | ({} if data is None else {"data": data})
    error = received(told)

    assert (error.code, error.message, error.data) == (code, message, data)
    assert error.fault is None
    assert not error.may_have_run


@pytest.mark.parametrize("error", ["no", 7, [], {}, {"code": "x", "message": 7}, True])
def test_an_error_that_is_malformed_is_an_error_all_the_same(error: Any) -> None:
    found = received(error)

    assert (found.code, found.fault) == (-32603, None)
    assert "cannot be read" in found.message


@pytest.mark.parametrize("fault", Fault)
def test_only_what_may_have_reached_the_server_may_have_run(fault: Fault) -> None:
    error = RpcError.none(fault, "HTTP 502")

    assert error.may_have_run is (fault in (Fault.LOST, Fault.TIMED_OUT))
