"""The command that runs a server's program with read-only files and under strace."""

import json
import os
import platform
import sys
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Final

from sayso.connect import CommandTarget
from sayso.contract.filter import readonly_filter
from sayso.errors import UncontainedError
from sayso.sandbox import Programs, ending_words, namespace_words
from sayso.trace import METADATA, NAMES, OPENS

_UID: Final = 1000
"""The user of the read-only process if the gateway is root. No read-only process runs as root."""

_LAUNCHER: Final = Path(__file__).with_name("launcher.py")

_TRACED: Final = (*OPENS, *NAMES, *METADATA, "truncate", "connect", "sendto", "sendmsg", "sendmmsg")
"""The calls whose failure is an attempt. Successful calls change only the process's own state."""

QUIET: Final = {
    "PYTHONDONTWRITEBYTECODE": "1",
    # Without this, `git status` tries to write the refreshed index, which would be an attempt.
    "GIT_OPTIONAL_LOCKS": "0",
}


def wrap(
    target: CommandTarget, folder: Path, programs: Programs, *, is_open: bool
) -> CommandTarget:
    """Return a target whose process can change only its own state and files in `folder`.

    The trace is written to `folder`. With `is_open` the process may use the network; otherwise it
    gets a loopback of its own. Raises `UncontainedError` on a machine without a filter.
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
        # Without this, a later mount on this machine would appear in the process, writable.
        *namespace_words(programs),
        *(programs.bwrap, "--ro-bind", "/", "/", "--dev", "/dev"),
        # /proc/sys affects the whole machine, and root may write there without capabilities.
        *("--proc", "/proc", "--remount-ro", "/proc"),
        *(word for path in writable for word in ("--bind-try", path, path)),
        *_apart(is_open=is_open),
        *("--", sys.executable, "-I", "-S", str(_LAUNCHER), _settings(writable, own)),
        *(target.command, *target.args),
    )
    env = {**target.env, **QUIET} | {name: str(private) for name in ("TMPDIR", "TMP", "TEMP")}
    return replace(target, command=words[0], args=tuple(words[1:]), env=env)


def _settings(writable: Sequence[str], own: Sequence[str]) -> str:
    compiled = readonly_filter(has_own=bool(own))
    if compiled is None:
        raise UncontainedError(
            f"contract mode does not support {platform.machine()}",
            fix="Use x86_64 or aarch64, or remove “contract” from the configuration.",
        )
    program, calls = compiled
    return json.dumps(
        {
            "filter": program.hex(),
            "calls": asdict(calls),
            "writable": ["/dev", *writable],
            "own": [os.path.realpath(path) for path in own],
        }
    )


def trace_of(folder: Path) -> Path:
    """Return the trace file of the read-only process that has this folder."""
    return folder / "trace"


def _strace(program: str, trace: Path) -> Sequence[str]:
    names = ",".join(f"?{name}" for name in _TRACED)
    filters = ("-e", f"trace={names}", "-e", "status=failed", "-e", "signal=none")
    options = ("-f", "--seccomp-bpf", "-qq", "-yy", "-ttt", "-A", "-o", str(trace))
    return (program, *options, *filters, "--")


def _apart(*, is_open: bool) -> Sequence[str]:
    user, group = (str(number or _UID) for number in (os.getuid(), os.getgid()))
    words = (
        *("--unshare-user", "--uid", user, "--gid", group, "--cap-drop", "ALL"),
        *("--unshare-pid", "--unshare-ipc", "--die-with-parent"),
    )
    if is_open:
        return words
    return (*words, "--unshare-net")
