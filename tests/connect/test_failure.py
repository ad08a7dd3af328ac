"""Why there is no connection, in words a person can act on."""

import json
from typing import Any

import pytest
from tests.connect.serving import faulty

from sayso.connect import CommandTarget, Fault, RpcError, UrlTarget
from sayso.connect.failure import explain
from sayso.connect.link import open_link
from sayso.connect.stderr_log import StderrLog
from sayso.errors import (
    AuthenticationError,
    CommandNotFoundError,
    ConfigError,
    NotMcpError,
    SaysoError,
    ServerExitedError,
    TimedOutError,
    UnreachableError,
)

pytestmark = pytest.mark.anyio

COMMAND = CommandTarget("git", "uvx", ("mcp-server-git",))
URL = UrlTarget("web", "https://example.com/mcp?key=secret")


def explained(error: Exception, target: Any = COMMAND, stderr: str = "") -> SaysoError:
    stderr_log = StderrLog()
    for line in stderr.splitlines():
        stderr_log.note(line.encode())
    return explain(error, target, stderr_log, 30)


@pytest.mark.parametrize("mode", ["garbage", "garbage-exits"])
@pytest.mark.process
async def test_what_a_server_prints_in_the_place_of_messages_is_quoted(mode: str) -> None:
    with pytest.raises(NotMcpError, match="printed a line to stdout that is not MCP") as caught:
        async with open_link(faulty(mode), timeout=6):
            raise AssertionError
    assert "Welcome" in caught.value.what
    assert caught.value.fix is not None
    assert "stderr" in caught.value.fix


@pytest.mark.process
async def test_a_server_that_ends_without_a_word_is_said_to_have_ended() -> None:
    with pytest.raises(ServerExitedError) as caught:
        async with open_link(CommandTarget("true", "true"), timeout=60):
            raise AssertionError
    assert str(caught.value) == "true (true): the server ended before it answered"


def test_only_the_last_lines_of_stderr_are_told_each_of_them_cut() -> None:
    lines = [f"line {number}" for number in range(10)]
    error = explained(RpcError(-32000, "", fault=Fault.LOST), stderr="\n".join([*lines, "x" * 999]))

    told = error.what.split(":\n")[1].splitlines()
    assert told == ["line 6", "line 7", "line 8", "line 9", "x" * 200]


def test_secrets_in_what_a_server_says_are_masked() -> None:
    github, bearer = "ghp_0123456789abcdefghijABCDEFGHIJ012345", "eyJhbGciOiJIUzI1NiJ9.e30.c2ln"
    stderr = f"using token={github}\nAuthorization: Bearer {bearer}\n"

    told = str(explained(RpcError(-32000, "", fault=Fault.LOST), stderr=stderr))

    assert github not in told
    assert bearer not in told


def test_garbage_is_kept_only_as_far_as_it_is_needed() -> None:
    stderr_log = StderrLog()
    for line in (
        b"x" * 999,
        b"token=ghp_0123456789abcdefghijABCDEFGHIJ012345",
        b"\xff",
        *[b"a"] * 9,
    ):
        stderr_log.note_garbage(line)

    assert len(stderr_log.garbage) == 5
    assert stderr_log.garbage[0] == "x" * 200
    assert "ghp_" not in stderr_log.garbage[1]


@pytest.mark.parametrize(
    ("error", "target", "kind"),
    [
        (RpcError(-32603, "no licence"), COMMAND, UnreachableError),
        (RpcError(-32603, "no licence"), URL, UnreachableError),
        (TimeoutError(), COMMAND, TimedOutError),
        (TimeoutError(), URL, TimedOutError),
        (RpcError(-32001, "", fault=Fault.TIMED_OUT), URL, TimedOutError),
        (RpcError(-32000, "", fault=Fault.UNAUTHORIZED), URL, AuthenticationError),
        (RpcError(-32000, "", fault=Fault.NOT_MCP), URL, NotMcpError),
        (RpcError(-32000, "", fault=Fault.LOST), URL, UnreachableError),
        (PermissionError(13, "Permission denied"), COMMAND, CommandNotFoundError),
        (ValueError("embedded null byte"), COMMAND, CommandNotFoundError),
        (OSError("odd"), COMMAND, CommandNotFoundError),
    ],
    ids=lambda value: repr(value)[:40] + type(value).__name__,
)
def test_each_failure_has_its_kind_and_its_place(
    error: Exception, target: Any, kind: type[SaysoError]
) -> None:
    found = explained(error, target)

    assert type(found) is kind
    assert found.where in ("git", "git (uvx)", "https://example.com/mcp?…")
    assert "secret" not in json.dumps(found.to_dict())


def test_an_error_of_saysos_own_gets_a_place_where_it_has_none() -> None:
    assert explained(NotMcpError("no")).where == "git"
    assert explained(ConfigError("no", where="a.json:1:1")).where == "a.json:1:1"


def test_of_several_errors_the_first_is_the_reason() -> None:
    group = ExceptionGroup("", [ExceptionGroup("", [TimeoutError()]), OSError()])

    assert isinstance(explained(group), TimedOutError)
