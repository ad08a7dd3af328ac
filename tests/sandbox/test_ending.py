import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import anyio
import pytest

from sayso.connect.kinds import CommandTarget
from sayso.connect.process import start_process
from sayso.sandbox.box import SandboxSpec, open_box
from sayso.sandbox.spec import Layer

# A server with a child that has left its session, and takes no polite word.
SERVER = """
import os, signal, sys, time
if os.fork() == 0:
    os.setsid()
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    open("/tmp/late", "w").close()
    time.sleep(300)
os.makedirs("/tmp/shut/in"); os.chmod("/tmp/shut", 0)
print("ready", flush=True)
time.sleep(300)
"""

SAYSO = """
import asyncio, sys
from sayso.connect.kinds import CommandTarget
from sayso.connect.process import start_process
from sayso.sandbox.box import SandboxSpec, open_box
from sayso.sandbox.probe import probe_layers

async def main(mark):
    spec = SandboxSpec((sys.executable, "-c", sys.argv[2], mark))
    async with open_box(spec, await probe_layers()) as box:
        target = CommandTarget("x", box.command[0], box.command[1:], dict(box.env), box.cwd)
        async with start_process(target) as (out, _, _):
            assert await out.readline() == b"ready\\n"
            print(box.home and box.places[0].host.parent, flush=True)
            await asyncio.sleep(300)

asyncio.run(main(sys.argv[1]))
"""


def processes_with(mark: str) -> list[int]:
    """Processes that have a word on their command line or in their working folder."""
    found: list[int] = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                if mark.encode() in (entry / "cmdline").read_bytes():
                    found.append(int(entry.name))
            except OSError:
                continue
    return found


def until(is_so: Callable[[], bool]) -> bool:
    """Wait a bounded time for a condition."""
    limit = time.monotonic() + 15
    while time.monotonic() < limit:
        if is_so():
            return True
        time.sleep(0.02)
    return is_so()


def left_behind(folder: Path, mark: str) -> list[str]:
    left = [f"process {one}" for one in processes_with(mark) + processes_with(str(folder))]
    left += [line for line in Path("/proc/mounts").read_text().splitlines() if str(folder) in line]
    return left + ([str(folder)] if folder.exists() else [])


@pytest.fixture
def mark() -> str:
    return f"mark-{os.urandom(8).hex()}"


@pytest.fixture
def sayso(mark: str, layers: tuple[Layer, ...]) -> Iterator[tuple[subprocess.Popen[str], Path]]:
    """A process that has opened a box in which a server runs, and the box's folder."""
    assert layers
    words = [sys.executable, "-c", SAYSO, mark, SERVER]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        folder = Path(process.stdout.readline().strip())
        assert folder.name.startswith("sayso-box-")
        assert folder.is_dir()
        yield process, folder
        process.kill()


@pytest.mark.parametrize("word", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL, signal.SIGHUP])
def test_however_sayso_is_ended_nothing_is_left(
    sayso: tuple[subprocess.Popen[str], Path], mark: str, word: signal.Signals
) -> None:
    process, folder = sayso
    assert len(processes_with(mark)) > 2

    process.send_signal(word)
    process.wait(60)

    assert until(lambda: not left_behind(folder, mark)), left_behind(folder, mark)


@pytest.mark.parametrize("has_failed", [False, True])
async def test_at_its_end_a_box_leaves_nothing(
    layers: tuple[Layer, ...], mark: str, *, has_failed: bool
) -> None:
    folder = Path()
    with contextlib.suppress(ZeroDivisionError):
        async with open_box(SandboxSpec((sys.executable, "-c", SERVER, mark)), layers) as box:
            folder = box.places[0].host.parent
            await _start_and_leave(box.command)
            assert 1 / (not has_failed)

    assert until(lambda: not left_behind(folder, mark)), left_behind(folder, mark)


async def test_a_box_that_is_cancelled_leaves_nothing(layers: tuple[Layer, ...], mark: str) -> None:
    folder = Path()
    with anyio.CancelScope() as scope:
        spec = SandboxSpec((sys.executable, "-c", SERVER, mark), allowed=("127.0.0.1:9",))
        async with open_box(spec, layers) as box:
            folder = box.places[0].host.parent
            target = CommandTarget("x", box.command[0], box.command[1:], dict(box.env), box.cwd)
            async with start_process(target) as (out, _, _):
                assert await out.readline() == b"ready\n"
                scope.cancel()
                await anyio.sleep_forever()

    assert until(lambda: not left_behind(folder, mark)), left_behind(folder, mark)


async def _start_and_leave(command: tuple[str, ...]) -> None:
    async with start_process(CommandTarget("x", command[0], command[1:])) as (out, _, _):
        assert await out.readline() == b"ready\n"
