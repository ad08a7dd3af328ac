"""A server's stderr: kept, masked, and logged at a limited rate."""

import asyncio
import logging
import sys

import pytest

from sayso.connect import CommandTarget
from sayso.connect.link import open_link
from sayso.connect.stderr_log import StderrLog, secrets_of
from sayso.errors import ServerExitedError

pytestmark = pytest.mark.anyio

GITHUB = "ghp_0123456789abcdefghijABCDEFGHIJ012345"


class Timer:
    """A clock that a test moves."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def told(caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    caplog.set_level(logging.INFO, "sayso.connect.stderr_log")
    return caplog


async def heard(stderr_log: StderrLog, *chunks: bytes) -> None:
    stream = asyncio.StreamReader()
    for chunk in chunks:
        stream.feed_data(chunk)
    stream.feed_eof()
    await stderr_log.hear(stream)


async def test_each_line_goes_to_the_log_with_the_servers_name(
    told: pytest.LogCaptureFixture,
) -> None:
    await heard(StderrLog("crm"), b"one\n\ntw", b"o \x1b[31m\xff\nlast")
    assert told.messages == ["crm: one", "crm: two \\u001b[31m\ufffd", "crm: last"]


async def test_a_line_without_an_end_is_cut(told: pytest.LogCaptureFixture) -> None:
    stderr_log = StderrLog("crm")
    await heard(stderr_log, b"x" * 1_000_000, b"\nnext\n")
    assert [len(one) for one in told.messages] == [len("crm: ") + 1000, len("crm: next")]
    assert stderr_log.tail() == "x" * 200 + "\nnext"


async def test_who_talks_without_end_is_heard_and_not_written_down(
    told: pytest.LogCaptureFixture,
) -> None:
    timer = Timer()
    stderr_log = StderrLog("crm", timer=timer)
    for number in range(5000):
        stderr_log.note(f"line {number}".encode())
    assert len(told.messages) == 100
    timer.now = 1.0
    stderr_log.note(b"later")
    assert told.messages[100:] == ["crm: (4900 lines are left out here)", "crm: later"]
    assert stderr_log.tail().splitlines()[-1] == "later"


async def test_secrets_are_masked_by_value_and_by_look(told: pytest.LogCaptureFixture) -> None:
    env = {"API_KEY": "correct horse", "MODE": "production", "LINK": f"see {GITHUB}", "PIN": "12"}
    secrets = secrets_of(env)
    assert secrets == (f"see {GITHUB}", "correct horse")
    stderr_log = StderrLog("crm", secrets)
    stderr_log.note(b"using correct horse in production")
    stderr_log.note(GITHUB.encode())
    stderr_log.note_garbage(b"correct horse")
    said = "\n".join([*told.messages, stderr_log.tail(), *stderr_log.garbage])
    assert "correct horse" not in said
    assert GITHUB not in said
    assert "in production" in said


async def test_the_lines_of_a_private_key_are_not_written_down(
    told: pytest.LogCaptureFixture,
) -> None:
    lines = [
        b"before",
        b"-----BEGIN RSA PRIVATE KEY-----",
        b"MIIEpAIBAAKCAQEA",
        b"-----END RSA PRIVATE KEY-----",
        b"after",
        b"-----BEGIN PRIVATE KEY-----",
        b"MIIEpAIBAAKCAQEB",
        b"it was never ended",
        b"so",
    ]
    await heard(StderrLog("crm"), b"\n".join(lines))
    assert told.messages == ["crm: before", "crm: after", "crm: it was never ended", "crm: so"]


@pytest.mark.process
async def test_the_last_words_of_a_process_are_waited_for(
    told: pytest.LogCaptureFixture,
) -> None:
    program = "import sys; sys.stderr.write('no database\\n')"
    target = CommandTarget("crm", sys.executable, ("-c", program))
    with pytest.raises(ServerExitedError, match="no database"):
        async with open_link(target, timeout=60):
            raise AssertionError
    assert "crm: no database" in told.messages


async def test_one_that_goes_on_is_not_waited_for_without_end() -> None:
    stderr_log = StderrLog()
    async with asyncio.timeout(5):
        await stderr_log.settle()
