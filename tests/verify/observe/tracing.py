"""What the tests of the trace share: a program that is run in a box under strace."""

import os
import shutil
import signal
import subprocess
import sys
import textwrap
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import pytest

from sayso.sandbox.mount import Place, Role
from sayso.trace.calls import TRACED
from sayso.trace.effect import Effect
from sayso.verify.observe.syscalls import SyscallWatcher

HAS_TOOLS = shutil.which("strace") is not None and shutil.which("bwrap") is not None
needs_tools = pytest.mark.skipif(not HAS_TOOLS, reason="strace and bwrap are not installed")

PYTHON = str(Path(sys.executable).resolve())


class Server:
    """A program that acts at each line that it is given, and answers each with a line."""

    def __init__(self, process: subprocess.Popen[str], watcher: SyscallWatcher) -> None:
        self._process = process
        self.watcher = watcher
        self.number = 0

    def ask(self, line: str = "") -> str:
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()
        return self._process.stdout.readline().strip()

    async def call(self, line: str = "", *, quiet: float = 0.03) -> list[Effect]:
        """What one line makes it do."""
        self.number += 1
        await self.watcher.begin()
        self.ask(line)
        assert await self.watcher.wait_idle(quiet=quiet, most=20)
        return list(await self.watcher.end(self.number))


LOOP = """
import ctypes, mmap, os, shutil, socket, subprocess, sys, threading, time
{start}
print("ready", flush=True)
for line in sys.stdin:
    line = line.strip()
{body}
    print("done", flush=True)
"""


@contextmanager
def run(tmp_path: Path, body: str, start: str = "") -> Generator[Server]:
    """A program in a box, whose folder `/world` is ours; it has come up when this is entered."""
    world, trace = tmp_path / "world", tmp_path / "trace"
    world.mkdir(exist_ok=True)
    names = tmp_path / "resolv.conf"
    names.write_text("nameserver 127.0.0.1\n")
    inner = textwrap.indent(textwrap.dedent(body), "    ")
    text = LOOP.format(start=textwrap.dedent(start), body=inner)
    command = [*strace(trace), *box(world, names), PYTHON, "-I", "-S", "-B", "-c", text]
    place = Place("/world", world, Role.FIXTURE)
    temporary = Place("/tmp", tmp_path / "nowhere", Role.TEMPORARY)
    watcher = SyscallWatcher(trace, [place, temporary])
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    assert process.stdin
    assert process.stdout
    try:
        assert process.stdout.readline() == "ready\n"
        yield Server(process, watcher)
    finally:
        _end(process, process.stdin, process.stdout)


def _end(process: subprocess.Popen[str], *pipes: IO[str]) -> None:
    for pipe in pipes:
        pipe.close()
    try:
        process.wait(60)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def strace(trace: Path) -> list[str]:
    form = ["-f", "--seccomp-bpf", "-yy", "-ttt", "-s", "256"]
    return ["strace", *form, "-o", str(trace), "-e", f"trace={','.join(TRACED)}"]


def box(world: Path, names: Path) -> list[str]:
    seen = ["--ro-bind", "/", "/", "--tmpfs", "/tmp", "--tmpfs", "/mnt", "--dev", "/dev"]
    if Path("/etc/resolv.conf").exists():
        seen += ["--ro-bind", str(names), os.path.realpath("/etc/resolv.conf")]
    root = ["--tmpfs", "/", *_roots(), *seen[3:], "--bind", str(world), "/world"]
    alone = ["--unshare-all", "--uid", "1000", "--gid", "1000", "--die-with-parent"]
    return ["bwrap", *root, "--proc", "/proc", *alone, "--chdir", "/world"]


def _roots() -> list[str]:
    """All folders at the root but those that a box has of its own."""
    own = {"dev", "proc", "sys", "tmp", "run", "mnt", "world"}
    folders = [one for one in Path("/").iterdir() if one.name not in own]
    links = [one for one in folders if one.is_symlink()]
    bound = [one for one in folders if not one.is_symlink() and one.is_dir()]
    return [
        *(word for one in links for word in ("--symlink", str(one.readlink()), str(one))),
        *(word for one in bound for word in ("--ro-bind", str(one), str(one))),
    ]


def told(effects: list[Effect]) -> list[tuple[str, str]]:
    """Each effect's kind and target, those that failed with a sign."""
    return [(f"{one.kind}{'!' if one.is_failed else ''}", one.target) for one in effects]
