"""Programs as processes that need not import all that they are made of each time.

To import the SDK takes a server a second, and most tests of servers start one each time. Here one
process imports modules once, and is copied (`fork`) for each start: whoever would run Python runs a
small command, which hands its stdin, stdout and stderr to the copy, lives as long as that does and
ends as it did.
"""

import gc
import json
import os
import runpy
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from sayso.connect import CommandTarget

# Sent without `site`, so that it starts at once. It ends when its copy does: by then that has said
# how, unless a signal has ended it.
_BEGIN = """
import json, os, socket, sys
with socket.socket(socket.AF_UNIX) as line:
    line.connect(sys.argv[1])
    told = json.dumps([sys.argv[2:], os.getcwd(), dict(os.environ)]).encode() + b"\\n"
    socket.send_fds(line, [told[:1]], [0, 1, 2])
    line.sendall(told[1:])
    for number in (0, 1, 2):
        os.close(number)
    code = line.recv(1) or b"\\1"
    line.recv(1)
sys.exit(code[0])
"""


@dataclass(frozen=True)
class Warm:
    """Modules that are imported already; what is started here finds them so."""

    path: Path

    def words(self, *words: str) -> list[str]:
        """What does as `python` does with these words: `-m MODULE` or a script, and `-W` before."""
        return [sys.executable, "-I", "-S", "-c", _BEGIN, str(self.path), *words]

    def command(self, name: str, *words: str) -> CommandTarget:
        """A server of this name, which these words start."""
        first, *rest = self.words(*words)
        return CommandTarget(name, first, tuple(rest))


@contextmanager
def warm(*modules: str) -> Generator[Warm]:
    """A process that has imported these modules, to be copied until this is left."""
    measuring = {name for name in os.environ if name.startswith("COVERAGE_")}
    env = {name: text for name, text in os.environ.items() if name not in measuring}
    with tempfile.TemporaryDirectory(prefix="sayso-warm-") as folder:
        path = Path(folder) / "line"
        words = [sys.executable, "-P", __file__, str(path), *modules]
        if measuring:
            words.append("coverage")
        with subprocess.Popen(
            words, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        ) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            assert process.stdout.readline() == b"ready\n"
            yield Warm(path)
            process.stdin.close()
            process.wait(60)


def _serve(path: str, modules: Sequence[str]) -> socket.socket | None:
    """Be copied for whoever asks, until stdin ends: then those who run the tests are gone.

    A copy leaves with the line to whoever has asked for it.
    """
    for one in modules:
        import_module(one)
    gc.collect()
    gc.freeze()  # nothing of it goes before its copies do
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
                return line
            line.close()
    return None


def _become(line: socket.socket) -> None:
    """Run what is asked for as a process of its own would, with what the other side hands over."""
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
    if {"COVERAGE_PROCESS_START", "COVERAGE_PROCESS_CONFIG"} & environment.keys():
        import_module("coverage").process_startup(force=True)
    code = 1
    try:
        _run(words)
        code = 0
    except SystemExit as ended:
        code = int(ended.code is not None) if not isinstance(ended.code, int) else ended.code
        raise
    finally:
        line.send(bytes([code & 255]))


def _run(words: Sequence[str]) -> None:
    """What `python` does with these words."""
    while words[0] == "-W":
        warnings.simplefilter(words[1])  # type: ignore[arg-type] # as the caller has it
        words = words[2:]
    is_module = words[0] == "-m"
    name, *rest = words[is_module:]
    sys.argv = [name, *rest]
    found = filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))
    sys.path[:0] = [os.getcwd() if is_module else str(Path(name).parent), *found]  # noqa: PTH109
    if is_module:
        runpy.run_module(name, run_name="__main__", alter_sys=True)
    else:
        runpy.run_path(name, run_name="__main__")


if __name__ == "__main__":
    asked = _serve(sys.argv[1], sys.argv[2:])
    if asked is not None:
        _become(asked)
