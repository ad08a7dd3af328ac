"""The command of a server's twin: the same program, seeing the world read-only, and watched."""

import json
import os
import platform
import sys
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Final

from sayso.connect import CommandTarget
from sayso.contract.filter import twin_filter
from sayso.errors import UncontainedError
from sayso.sandbox import Programs, ending_words, namespace_words
from sayso.trace import METADATA, NAMES, OPENS

_UID: Final = 1000
"""Who the twin is where the gateway is root: nobody inside is."""

_LAUNCHER: Final = Path(__file__).with_name("launcher.py")

_TRACED: Final = (*OPENS, *NAMES, *METADATA, "truncate", "connect", "sendto", "sendmsg", "sendmmsg")
"""Calls whose failing says what was tried. What works here changes only what is the twin's own."""

QUIET: Final = {
    "PYTHONDONTWRITEBYTECODE": "1",
    # Else `git status` tries to write the index that it has refreshed.
    "GIT_OPTIONAL_LOCKS": "0",
}


def wrap(
    target: CommandTarget, folder: Path, programs: Programs, *, is_open: bool
) -> CommandTarget:
    """The target whose process can change only its own state, and `folder`'s part of it.

    What it tries is written to `folder`. Unless it `is_open`, it has a network of its own with
    nothing but loopback, where nobody else listens.
    """
    private = folder / "tmp"
    private.mkdir(exist_ok=True)
    own: Sequence[str] = ()
    if target.contract:
        own = target.contract.own
    writable = (*own, str(private))
    words = (
        *ending_words(programs),
        *_strace(programs.strace, trace_of(folder)),
        # Else what is mounted later on this machine would appear in the twin, writable.
        *namespace_words(programs),
        *(programs.bwrap, "--ro-bind", "/", "/", "--dev", "/dev"),
        # Files of /proc/sys are the whole machine's, and root's without any capability.
        *("--proc", "/proc", "--remount-ro", "/proc"),
        *(word for path in writable for word in ("--bind-try", path, path)),
        *_apart(is_open=is_open),
        *("--", sys.executable, "-I", "-S", str(_LAUNCHER), _settings(writable, own)),
        *(target.command, *target.args),
    )
    env = {**target.env, **QUIET} | {name: str(private) for name in ("TMPDIR", "TMP", "TEMP")}
    return replace(target, command=words[0], args=tuple(words[1:]), env=env)


def _settings(writable: Sequence[str], own: Sequence[str]) -> str:
    """Return what the launcher is told; raises `UncontainedError` on a machine without a filter."""
    made = twin_filter(has_own=bool(own))
    if made is None:
        raise UncontainedError(
            f"no filter of system calls exists for {platform.machine()}",
            fix="Use x86_64 or aarch64, or take “contract” out.",
        )
    program, calls = made
    settings = {
        "filter": program.hex(),
        "calls": asdict(calls),
        "writable": ["/dev", *writable],
        "own": [os.path.realpath(path) for path in own],
    }
    return json.dumps(settings)


def trace_of(folder: Path) -> Path:
    """Where a twin's attempts are written."""
    return folder / "trace"


def _strace(program: str, trace: Path) -> Sequence[str]:
    names = ",".join(f"?{name}" for name in _TRACED)
    told = ("-e", f"trace={names}", "-e", "status=failed", "-e", "signal=none")
    options = ("-f", "--seccomp-bpf", "-qq", "-yy", "-ttt", "-A", "-o", str(trace))
    return (program, *options, *told, "--")


def _apart(*, is_open: bool) -> Sequence[str]:
    user, group = (str(number or _UID) for number in (os.getuid(), os.getgid()))
    words = (
        *("--unshare-user", "--uid", user, "--gid", group, "--cap-drop", "ALL"),
        *("--unshare-pid", "--unshare-ipc", "--die-with-parent"),
    )
    if is_open:
        return words
    return (*words, "--unshare-net")
