"""The lines of a server's process: of any length up to a bound, and never far ahead of us."""

import asyncio
import sys

import pytest

from sayso.connect import CommandTarget
from sayso.connect import process as process_module
from sayso.connect.process import lines_of, start_process

pytestmark = pytest.mark.anyio

LINES = [b"{}", b"", b"x" * 15, b"x" * 16, b"x" * 17, b"x" * 1_000, b"end"]


def reader(*pieces: bytes, ahead: int = 16) -> asyncio.StreamReader:
    """Return the output so far."""
    found = asyncio.StreamReader(ahead)
    for piece in pieces:
        found.feed_data(piece)
    found.feed_eof()
    return found


@pytest.mark.parametrize("size", [1, 7, 10_000])
async def test_a_line_that_is_longer_than_what_waits_comes_whole(size: int) -> None:
    said = b"".join(line + b"\n" for line in LINES)
    pieces = [said[at : at + size] for at in range(0, len(said), size)]
    assert [line async for line in lines_of(reader(*pieces))] == LINES


async def test_a_line_that_was_not_ended_is_none() -> None:
    assert [line async for line in lines_of(reader(b"a\n", b"x" * 40))] == [b"a"]


async def test_a_line_without_measure_is_the_last(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process_module, "_LARGEST_LINE", 100)
    said = reader(b"x" * 90 + b"\n", *[b"x" * 30] * 10, b"\nend\n")
    assert [line async for line in lines_of(said)] == [b"x" * 90]


@pytest.mark.process
async def test_a_server_says_lines_of_any_length() -> None:
    script = "print('x' * 5_000_000); print('y'); print('z' * 600_000)"
    target = CommandTarget("s", sys.executable, ("-c", script))
    async with start_process(target) as (said, _, _):
        assert [len(line) async for line in lines_of(said)] == [5_000_000, 1, 600_000]
