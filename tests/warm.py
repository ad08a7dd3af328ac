"""Servers of others as processes that need not import all that they are made of each time.

To import the SDK takes a server a second, and a test of the gateway starts one each time. Here one
process imports a module once, and is copied (`fork`) for each start: `avow` runs a small command,
which hands its stdin, stdout and stderr to the copy and lives as long as that does.
"""

import json
import os
import runpy
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from avow.connect import CommandTarget

# Sent without `site`, so that it starts at once. It ends when its copy does.
_BEGIN = """
import json, os, socket, sys
with socket.socket(socket.AF_UNIX) as line:
    line.connect(sys.argv[1])
    told = json.dumps([sys.argv[2:], os.getcwd(), dict(os.environ)]).encode() + b"\\n"
    socket.send_fds(line, [told[:1]], [0, 1, 2])
    line.sendall(told[1:])
    for number in (0, 1, 2):
        os.close(number)
    line.recv(1)
"""


@dataclass(frozen=True)
class Warm:
    """A module that is imported already; `command` starts it anew."""

    path: Path

    def command(self, name: str, *words: str) -> CommandTarget:
        """A server of this name, which is run with these words."""
        begin = ("-I", "-S", "-c", _BEGIN, str(self.path), *words)
        return CommandTarget(name, sys.executable, begin)


@contextmanager
def warm(module: str) -> Generator[Warm]:
    """A process that has imported `module`, to be copied until this is left."""
    measuring = {name for name in os.environ if name.startswith("COVERAGE_")}
    env = {name: text for name, text in os.environ.items() if name not in measuring}
    with tempfile.TemporaryDirectory(prefix="avow-warm-") as folder:
        path = Path(folder) / "line"
        words = [sys.executable, "-P", __file__, module, str(path)]
        with subprocess.Popen(
            words, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        ) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            assert process.stdout.readline() == b"ready\n"
            yield Warm(path)
            process.stdin.close()
            process.wait(10)


def _serve(module: str, path: str) -> None:
    """Be copied for whoever asks, until stdin ends: then those who run the tests are gone."""
    __import__(f"{module}.server")
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for the copies
    with socket.socket(socket.AF_UNIX) as listener, selectors.DefaultSelector() as ears:
        listener.bind(path)
        listener.listen(64)
        ears.register(listener, selectors.EVENT_READ)
        ears.register(sys.stdin, selectors.EVENT_READ)
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        while all(key.fileobj is listener for key, _ in ears.select()):
            line, _ = listener.accept()
            if os.fork() == 0:
                listener.close()
                _become(module, line)
            line.close()


def _become(module: str, line: socket.socket) -> None:
    """Run the module as a process of its own would, with what the other side has handed over."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    first, files, _, _ = socket.recv_fds(line, 1, 3)
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    with line.makefile("rb") as rest:
        words, folder, environment = json.loads(first + rest.readline())
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv[1:] = words
    try:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    except SystemExit as ended:
        os._exit(ended.code if isinstance(ended.code, int) else 1)
    os._exit(0)


if __name__ == "__main__":
    _serve(*sys.argv[1:])
