"""A program on a terminal of its own, with somebody at it who types answers."""

import os
import pty
import select
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

# The first terminal that the leader of a session asks for becomes its controlling one.
BOOT = (
    "import fcntl, os, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0);"
    "os.execv(sys.argv[1], sys.argv[1:])"
)


def run_on_terminal(
    words: Sequence[str],
    answers: Mapping[str, str],
    *,
    cwd: Path | None = None,
    environment: Mapping[str, str] | None = None,
    before: str = "",
    seconds: float = 60,
) -> tuple[int, str]:
    """Run a program; its exit code, and all that stood on the terminal.

    `before` is typed at once, and each of `answers` every time that its key is shown.
    """
    ours, theirs = pty.openpty()
    os.write(ours, before.encode())
    deadline = time.monotonic() + seconds
    command = [sys.executable, "-c", BOOT, *words]
    with subprocess.Popen(
        command,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
        cwd=cwd,
        env=environment,
    ) as process:
        os.close(theirs)
        try:
            shown = _sit(ours, answers, deadline)
        finally:
            os.close(ours)
            if process.poll() is None and time.monotonic() > deadline:
                process.kill()
        return process.wait(seconds), shown


def _sit(terminal: int, answers: Mapping[str, str], deadline: float) -> str:
    shown, seen = "", 0
    while True:
        assert time.monotonic() < deadline, shown
        if not select.select([terminal], [], [], 0.5)[0]:
            continue
        try:
            data = os.read(terminal, 65536)
        except OSError:  # the last program has let go of the terminal
            return shown
        if not data:
            return shown
        shown += data.decode(errors="replace")
        for question, answer in answers.items():
            if question in shown[seen:]:
                seen = len(shown)
                os.write(terminal, answer.encode())
