"""Signals at the moments of a gateway's start and end that a sender cannot aim at.

Each test runs a program that sends itself the signal at exactly such a moment.
"""

import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.cli.running import environment

pytestmark = pytest.mark.process

PARENT = """
import os, signal, sys
from sayso.cli import workers

def send():
    os.kill(os.getpid(), {number})

def work(worker):
    worker.serves()
    if worker.place == {brief}:
        sys.exit(0)
    signal.pause()

{moment}
try:
    code = workers.Parent(2, work, drain=3600.0, tell=lambda _: None).run()
except KeyboardInterrupt:
    code = 130
sys.exit(code)
"""
BEFORE_THE_SECOND_STARTS = "workers.notify_ready = send"
ONCE_ONE_HAS_BEEN_WAITED_FOR = """
wait = os.wait
def signalled():
    os.wait = wait
    ended = wait()
    send()
    return ended
os.wait = signalled
"""

GATEWAY = """
import os, signal, socket, sys
import anyio
from sayso.cli import main, serve

def send():
    os.kill(os.getpid(), signal.SIGTERM)

{moment}
words = ["gateway", "--port", "0", "--store", sys.argv[1], "--", sys.executable]
sys.exit(main(words))
"""
AS_SOON_AS_IT_IS_HANDLED = """
set_handler = signal.signal
def signalled(number, handler):
    before = set_handler(number, handler)
    if number == signal.SIGTERM:
        signal.signal = set_handler
        send()
    return before
signal.signal = signalled
"""
WHEN_AN_INTERRUPT_STARTS_TO_CANCEL = """
set_handler = signal.signal
def signalled(number, handler):
    before = set_handler(number, handler)
    if number == signal.SIGINT and "_on_sigint" in repr(handler):
        signal.signal = set_handler
        send()
    return before
signal.signal = signalled
"""
WHEN_ALL_HAS_ENDED = """
close = socket.socket.close
def signalled(listener):
    send()
    close(listener)
def run(*_words, **_options):
    socket.socket.close = signalled
anyio.run = run
"""


def ended(program: str, *words: str) -> tuple[int, str]:
    """Run a program to its end; return its exit code and what it wrote to stderr."""
    done = subprocess.run(
        [sys.executable, "-c", program, *words],
        env=environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    return done.returncode, done.stderr


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
def test_a_worker_that_starts_after_the_signal_gets_it_too(number: int, code: int) -> None:
    program = PARENT.format(number=int(number), brief=None, moment=BEFORE_THE_SECOND_STARTS)
    assert ended(program) == (code, "")


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
def test_a_worker_that_has_just_ended_is_not_missed(number: int, code: int) -> None:
    program = PARENT.format(number=int(number), brief=1, moment=ONCE_ONE_HAS_BEEN_WAITED_FOR)
    assert ended(program) == (code, "")


@pytest.mark.parametrize(
    "moment", [AS_SOON_AS_IT_IS_HANDLED, WHEN_AN_INTERRUPT_STARTS_TO_CANCEL, WHEN_ALL_HAS_ENDED]
)
def test_a_signal_at_the_very_start_or_end_of_serving_is_a_graceful_end(
    moment: str, tmp_path: Path
) -> None:
    program = GATEWAY.format(moment=moment)
    assert ended(program, f"sqlite:{tmp_path / 'sayso.db'}") == (0, "")
