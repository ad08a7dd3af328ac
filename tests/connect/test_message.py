"""Messages as bytes: what is none is told, and what is inside is read only where it is wanted."""

import json
from collections.abc import Mapping
from typing import Any

import msgspec
import pytest

from sayso.connect import RpcError
from sayso.connect.inbox import Inbox, tell
from sayso.connect.message import (
    in_one_line,
    read_message,
    read_object,
    read_parts,
    read_value,
)
from sayso.connect.web.events import EventReader

pytestmark = pytest.mark.anyio

DEEP = msgspec.Raw(b"[" * 100_000 + b"]" * 100_000)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"7",
        b"{}",
        b"[" * 100_000,
        b'{"jsonrpc":"1.0","method":"x"}',
        b'{"jsonrpc":"2.0","id":1}',
    ],
)
def test_what_is_no_message_is_told(data: bytes) -> None:
    with pytest.raises(ValueError, match=r".+"):
        read_message(data)


def test_bytes_that_are_no_text_are_replaced() -> None:
    message = read_message(b'{"jsonrpc":"2.0","method":"x","params":{"a":"\xff"}}')
    assert read_object(message.params) == {"a": "\ufffd"}


def test_what_is_nested_too_deeply_is_not_read() -> None:
    for read in (read_value, read_object):
        with pytest.raises(ValueError, match=r".+"):
            read(DEEP)
    with pytest.raises(ValueError, match=r".+"):
        read_parts(msgspec.Raw(b'{"b":' + bytes(DEEP) + b"}"), {"a"})
    with pytest.raises(ValueError, match="must be an object"):
        read_object(msgspec.Raw(b"[]"))


def test_line_breaks_between_values_go() -> None:
    assert json.loads(in_one_line(b'{\r\n"a": 1}')) == {"a": 1}
    assert b"\n" not in in_one_line(b'{\r\n"a": 1}')
    assert in_one_line(b'{"a": 1}') == b'{"a": 1}'


async def test_a_notification_that_cannot_be_read_is_nobodys() -> None:
    told: list[str] = []

    async def notified(method: str, _: Mapping[str, Any]) -> None:
        told.append(method)

    inbox = Inbox(notified)
    await inbox.notify(read_message(b'{"jsonrpc":"2.0","method":"a","params":[]}'))
    await inbox.notify(read_message(b'{"jsonrpc":"2.0","method":"b"}'))
    assert told == ["b"]


async def test_a_question_that_cannot_be_read_gets_an_error() -> None:
    answer = await Inbox().answer(
        read_message(b'{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}')
    )
    assert json.loads(answer)["error"]["code"] == -32603


async def test_progress_that_is_none_is_not_told() -> None:
    told: list[tuple[float, float | None, str | None]] = []

    async def progress(done: float, total: float | None, text: str | None) -> None:
        told.append((done, total, text))

    for params in ("[]", '{"progress":true}', '{"progress":1,"total":"x","message":7}'):
        data = '{"jsonrpc":"2.0","method":"notifications/progress","params":' + params + "}"
        await tell(progress, read_message(data.encode()))
        await tell(None, read_message(data.encode()))
    assert told == [(1, None, None)]


def test_an_error_that_cannot_be_read_is_one() -> None:
    message = read_message(b'{"jsonrpc":"2.0","id":1,"error":1e999}')
    assert "cannot be read" in RpcError.received(message).message


def test_an_event_that_never_ends_is_given_up() -> None:
    reader = EventReader(most=10)
    with pytest.raises(ValueError, match="too large"):
        reader.feed(b"data: 0123456789")


def test_lines_of_a_stream_end_in_any_way() -> None:
    reader = EventReader(most=100)
    found = [
        one
        for piece in (b"\xef\xbb\xbfid: 7\rretry: 5\r", b"\nda", b"ta: 1\r", b"\n\r\n")
        for one in reader.feed(piece)
    ]
    assert [(one.data, one.id) for one in found] == [(b"1", "7")]
    assert reader.retry == 5


@pytest.mark.parametrize("inside", ["[" * 9000 + "]" * 9000, '{"a":' * 9000 + "1" + "}" * 9000])
def test_a_message_that_is_nested_too_deeply_is_none(inside: str) -> None:
    text = f'{{"jsonrpc": "2.0", "id": 1, "result": {inside}}}'
    with pytest.raises(ValueError, match="nested too deeply"):
        read_message(text.encode())
