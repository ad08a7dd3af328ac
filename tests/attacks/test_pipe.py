"""The door over stdio: garbage, lines without measure, and a client that hangs up in mid-call."""

import json
import subprocess
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from tests.attacks.serving import CLI_KEYS
from tests.cli.running import COMMAND, environment, python, sayso_process

HELLO = {
    "protocolVersion": "2025-03-26",
    "capabilities": {},
    "clientInfo": {"name": "amy", "version": "1"},
}

GARBAGE: dict[str, bytes] = {
    "no JSON": b"nonsense",
    "no UTF-8": b"\xff\xfe\x00",
    "NUL": b"\x00" * 100,
    "nested deeply": b"[" * 100_000,
    "nested in a message": b'{"jsonrpc":"2.0","id":1,"method":' + b'{"a":' * 100_000,
    "a number": b"7",
    "an empty batch": b"[]",
    "a batch of thousands": b"["
    + b",".join([b'{"jsonrpc":"2.0","id":1,"method":"ping"}'] * 10_000)
    + b"]",
    "a batch of garbage": b"[1, 2, {}]",
}


class Pipe:
    """`sayso gateway --stdio`, spoken to line by line."""

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self.process, self._in, self._out = process, process.stdin, process.stdout

    def say(self, line: bytes) -> None:
        self._in.write(line + b"\n")
        self._in.flush()

    def send(self, number: int, method: str, **params: Any) -> None:
        told = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        self.say(json.dumps(told).encode())

    def next(self) -> dict[str, Any]:
        return json.loads(self._out.readline())

    def ask(self, number: int, method: str, **params: Any) -> dict[str, Any]:
        self.send(number, method, **params)
        while (found := self.next()).get("id") != number:
            pass
        return found

    def end(self) -> int:
        self._in.close()
        return self.process.wait(30)


@contextmanager
def spoken_to(store: str) -> Generator[Pipe]:
    words = ("gateway", "--stdio", "--store", store, "--", *python("plain"))
    with subprocess.Popen(
        [*COMMAND, *words],
        env=environment(SAYSO_KEYS=CLI_KEYS),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as process:
        try:
            pipe = Pipe(process)
            assert "result" in pipe.ask(1, "initialize", **HELLO)
            yield pipe
        finally:
            process.kill()


def tool(pipe: Pipe, end: str) -> str:
    """Return the full name of a tool. A server that starts slowly is listed later."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        tools = pipe.ask(2, "tools/list")["result"]["tools"]
        names = [one["name"] for one in tools if one["name"].endswith(end)]
        if names:
            return names[0]
    raise AssertionError(f"no tool ends with {end}")


def test_garbage_is_refused_line_by_line_and_the_conversation_goes_on(store: str) -> None:
    with spoken_to(store) as pipe:
        name = tool(pipe, "get_echo")
        for what, line in GARBAGE.items():
            pipe.say(line)
            assert pipe.next()["error"]["code"] == -32700, what
        assert "isError" not in pipe.ask(3, "tools/call", name=name, arguments={})["result"]
        assert pipe.end() == 0


def test_a_line_without_measure_ends_the_conversation_in_order(store: str) -> None:
    with spoken_to(store) as pipe:
        with suppress(BrokenPipeError):
            for _ in range(100):
                pipe.say(b"x" * 5_000_000)
        assert pipe.process.wait(30) == 0


def test_a_client_that_hangs_up_in_mid_call_leaves_its_end_on_record(
    store: str, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    with spoken_to(store) as pipe:
        name = tool(pipe, "add_hang")
        pipe.send(3, "tools/call", name=name, arguments={"log": str(log)})
        while not log.exists():
            assert "result" in pipe.ask(4, "ping")
        assert pipe.end() == 0
    listed = sayso_process("audit", "list", "--store", store, "--json", SAYSO_KEYS=CLI_KEYS).out
    assert '"outcome_unknown"' in listed
    assert log.read_text().count("hang\n") == 1
