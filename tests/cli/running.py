"""`sayso` as a person runs it, with an environment of its own: here, or as a process of its own.

`sayso` runs a command in this process, which takes a hundredth of the time. `sayso_process` and
`started` are for what only a process shows: signals, exit codes, a gateway that serves.
"""

import atexit
import io
import json
import logging
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Generator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import IO, Any

import pytest
from tests.connect.serving import ENVIRONMENT, SERVERS
from tests.warm import Warm, warm

from sayso.cli import main

FAULTY = str(SERVERS / "faulty.py")
COMMAND = (sys.executable, "-m", "sayso")
_LIBRARIES = (
    "anyio._backends._asyncio",
    "cryptography.hazmat.primitives.ciphers.aead",
    "click",
    "jsonschema_rs",
    "msgspec",
    "platformdirs",
    "sqlite3",
)
"""What most commands import of others; each also imports sayso, and only what it uses of it."""

# Where sayso is not installed but on PYTHONPATH, the servers that it starts from its own package
# find it only here: they get none of our variables.
SOURCE = ENVIRONMENT["PYTHONPATH"]


_RUNTIME = tempfile.TemporaryDirectory(prefix="sayso-")
"""Where the gateways of tests have their sockets, apart from those of whoever runs the tests."""


def environment(**variables: str) -> dict[str, str]:
    """Nothing of whoever runs the tests but what a program needs to start."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    own = {"TERM": "dumb", "NO_COLOR": "1", "SAYSO_RUNTIME_DIR": _RUNTIME.name}
    return {**kept, **ENVIRONMENT, **own, **variables}


@dataclass(frozen=True)
class Done:
    """How a run of `sayso` ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The document on stdout."""
        return json.loads(self.out)

    @property
    def error(self) -> dict[str, Any]:
        """The one error on stderr, with nothing beside it."""
        (line,) = self.err.splitlines()
        return json.loads(line)["error"]


@cache
def _python() -> Warm:
    stack = ExitStack()
    atexit.register(stack.close)
    return stack.enter_context(warm(*_LIBRARIES))


def sayso(*words: str, cwd: Path | None = None, **variables: str) -> Done:
    """Run `sayso` with these words in this process, and give what it printed.

    What a command changes in its process is put back: environment, folder, log, imported files.
    """
    out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    err = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    with (
        pytest.MonkeyPatch.context() as patch,
        Path(os.devnull).open(encoding="utf-8") as nothing,
        _own_log(),
        _own_modules(),
    ):
        for name in set(os.environ):
            patch.delenv(name)
        for name, text in environment(**variables).items():
            patch.setenv(name, text)
        patch.chdir(cwd or Path.cwd())
        for name, file in (("stdin", nothing), ("stdout", out), ("stderr", err)):
            patch.setattr(sys, name, file)
        try:
            code = main(words)
        except SystemExit as ended:
            code = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    return Done(code, _text(out), _text(err))


def _text(file: io.TextIOWrapper) -> str:
    file.flush()
    buffer = file.detach()
    assert isinstance(buffer, io.BytesIO)
    return buffer.getvalue().decode()


@contextmanager
def _own_log() -> Generator[None]:
    """Put the handlers of the log back: a command writes its log to its own standard error.

    Until it does, nothing is written: a thread of an earlier test may still log, and with no
    handler at all Python would write that among the command's errors.
    """
    root, sdk = logging.getLogger(), logging.getLogger("mcp")
    handlers, level, sdk_level = root.handlers[:], root.level, sdk.level
    root.handlers[:] = [logging.NullHandler()]
    try:
        yield
    finally:
        logging.captureWarnings(capture=False)
        root.handlers[:] = handlers
        root.setLevel(level)
        sdk.setLevel(sdk_level)


@contextmanager
def _own_modules() -> Generator[None]:
    """Forget what a command imports from the folder of a test: the next has files of that name."""
    path = sys.path[:]
    before = set(sys.modules)
    try:
        yield
    finally:
        sys.path[:] = path
        for name in set(sys.modules) - before:
            file = Path(getattr(sys.modules[name], "__file__", None) or SOURCE)
            if not any(
                file.is_relative_to(place) for place in (SOURCE, sys.prefix, sys.base_prefix)
            ):
                del sys.modules[name]


def sayso_process(*words: str, cwd: Path | None = None, **variables: str) -> Done:
    """Run `sayso` with these words as a process, to its end."""
    done = subprocess.run(
        _python().words("-m", "sayso", *words),
        cwd=cwd,
        env=environment(**variables),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )
    return Done(done.returncode, done.stdout, done.stderr)


@dataclass(frozen=True)
class Started:
    """A run of `sayso` that has printed its first line of results."""

    process: subprocess.Popen[str]
    first: str
    said: IO[str]

    @property
    def addresses(self) -> dict[str, Any]:
        return json.loads(self.first)

    def end(self, number: int = signal.SIGTERM) -> Done:
        """Send a signal and wait for the end."""
        self.process.send_signal(number)
        return self.wait()

    def wait(self) -> Done:
        """Wait for the end."""
        out, _ = self.process.communicate(timeout=60)
        return Done(self.process.returncode, self.first + out, self.err())

    def err(self) -> str:
        """What stands on stderr so far."""
        self.said.seek(0)
        return self.said.read()


@contextmanager
def started(
    *words: str, cwd: str | None = None, waits: bool = True, **variables: str
) -> Generator[Started]:
    """`sayso` while it runs; killed on leaving where it still does."""
    # Each write is appended, wherever a reader of what was said so far has put the file's position.
    with tempfile.TemporaryFile("a+", encoding="utf-8") as said:
        process = subprocess.Popen(
            [*COMMAND, *words],
            cwd=cwd,
            env=environment(**variables),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=said,
            encoding="utf-8",
        )
        assert process.stdout is not None
        with process, process.stdout:
            try:
                yield Started(process, process.stdout.readline() if waits else "", said)
            finally:
                process.kill()


def write_json(path: Path, value: Any) -> str:
    """A JSON file, and its name as a word for `sayso`."""
    path.write_text(json.dumps(value), encoding="utf-8")
    return str(path)


def configuration(path: Path, **servers: Sequence[str]) -> str:
    """A client's configuration: a command for each server."""
    entries = {name: {"command": words[0], "args": words[1:]} for name, words in servers.items()}
    return write_json(path, {"mcpServers": entries})


def python(mode: str) -> tuple[str, ...]:
    """The command of the server that misbehaves in one way."""
    return (sys.executable, FAULTY, mode)
