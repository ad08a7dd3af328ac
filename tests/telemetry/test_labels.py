"""What is said of requests and calls comes from a bounded set of words, whoever speaks."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as some

from sayso.audit import Outcome
from sayso.connect import RpcError
from sayso.connect.rpc import Fault
from sayso.connect.watch import Exchange
from sayso.guard import Call, CallRequest
from sayso.policy import Principal
from sayso.schema.plain_text import is_unseen
from sayso.telemetry.attributes import (
    approval_attributes,
    call_attributes,
    exchange_attributes,
    request_attributes,
    short,
    span_name,
    trace_of,
)
from sayso.telemetry.context import Asked
from sayso.telemetry.labels import (
    METHODS,
    OTHER,
    call_labels,
    code_label,
    failure_label,
    method_label,
)


@given(some.text())
def test_a_method_is_one_of_mcps_or_other(method: str) -> None:
    assert method_label(method) in METHODS | {OTHER}


@given(some.integers())
def test_a_code_is_a_known_one_or_other(code: int) -> None:
    label = code_label(code)
    assert label == OTHER or (label == str(code) and -32_800 <= code <= -32_000)


@pytest.mark.parametrize(
    ("error", "is_error", "expected"),
    [
        (None, False, ""),
        (None, True, "tool_error"),
        (RpcError(-32602, "no"), False, "-32602"),
        (RpcError(12_345, "no"), False, OTHER),
        (RpcError.none(Fault.TIMED_OUT, "slow"), False, "timed_out"),
        (asyncio.CancelledError(), False, "cancelled"),
        (ValueError("ours"), False, "error"),
    ],
)
def test_failures_have_a_word_each(
    *, error: BaseException | None, is_error: bool, expected: str
) -> None:
    assert failure_label(error, is_error=is_error) == expected


def call(**more: object) -> Call:
    found = Call(CallRequest("id", Principal("amy"), "evil", {}, 0.0))
    for name, value in more.items():
        setattr(found, name, value)
    return found


@pytest.mark.parametrize(
    ("outcome", "error", "expected"),
    [
        (Outcome.UNKNOWN_TOOL, None, "unknown_tool"),
        (None, asyncio.CancelledError(), "cancelled"),
        (None, ValueError(), "failed"),
        (None, None, "failed"),
    ],
)
def test_a_call_that_was_not_found_has_only_its_end(
    outcome: Outcome | None, error: BaseException | None, expected: str
) -> None:
    labels = call_labels(call(outcome=outcome), error)
    assert labels == ("", "", "", expected)


def test_what_is_known_of_a_call_is_in_its_span_and_no_more() -> None:
    of = call(outcome=Outcome.FAILED, incident="a1", approval=3, tries=2)

    assert call_attributes(of, call_labels(of, None)) == {
        "sayso.call.id": "id",
        "sayso.outcome": "failed",
        "sayso.approval.number": 3,
        "sayso.incident": "a1",
        "sayso.tries": 2,
    }
    assert approval_attributes(of) == {}


def test_requests_and_exchanges_over_pipes() -> None:
    asked = Asked("ping", None, "2025-11-25")
    said = {"mcp.method.name": "ping", "mcp.protocol.version": "2025-11-25"}
    assert request_attributes(asked, is_http=False) == {**said, "network.transport": "pipe"}
    over = exchange_attributes(Exchange("s", "ping", "2025-11-25"))
    assert over == {**said, "network.transport": "pipe", "sayso.server": "s"}


@pytest.mark.parametrize(
    ("url", "port"), [("https://a.example/mcp", 443), ("http://a.example", 80)]
)
def test_a_port_that_is_not_written_is_the_schemes(url: str, port: int) -> None:
    found = exchange_attributes(Exchange("s", "ping", "2025-11-25", url))
    assert (found["server.address"], found["server.port"]) == ("a.example", port)


@given(some.text())
def test_the_other_sides_words_are_short_and_can_be_sent(text: str) -> None:
    told = short(text)
    told.encode()
    assert len(told) <= 128
    assert not any(is_unseen(char) for char in told)


def test_a_secret_is_not_said() -> None:
    assert "0123456789" not in short("sk-live-0123456789abcdefghij")
    assert span_name("tools/call", "a\nb") == "tools/call a\\u000ab"


def test_only_text_is_a_trace() -> None:
    parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    carrier = {"traceparent": parent, "tracestate": "a=b", "baggage": "secret"}
    assert trace_of(carrier) == {"traceparent": parent, "tracestate": "a=b"}
    assert trace_of({**carrier, "tracestate": 7}) == {"traceparent": parent}
    for said in (7, "secret", f"{parent}-secret"):
        assert trace_of({**carrier, "traceparent": said}) == {}
