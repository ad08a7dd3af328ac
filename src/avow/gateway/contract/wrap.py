"""The command of a server's twin: the same program, seeing the world read-only, and watched."""

import os
import stat
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Final

from avow.connect import CommandTarget
from avow.verify.contain.programs import Programs
from avow.verify.contain.start import ending_words
from avow.verify.observe.syscalls.calls import METADATA, NAMES, OPENS

_UID: Final = 1000
"""Who the twin is where the gateway is root: nobody inside is."""

_MOST_SOCKETS: Final = 500
_LISTENING: Final = Path("/proc/net/unix")
_RUN: Final = Path("/run")
_RESOLVER: Final = Path("/etc/resolv.conf")

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
    own = target.contract.own if target.contract else ()
    words = (
        *ending_words(programs),
        *_strace(programs.strace, trace_of(folder)),
        *(programs.bwrap, "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"),
        *_masks(own, is_open=is_open),
        *(word for path in (*own, str(private)) for word in ("--bind-try", path, path)),
        *_apart(is_open=is_open),
        *("--", target.command, *target.args),
    )
    env = {**target.env, **QUIET} | {name: str(private) for name in ("TMPDIR", "TMP", "TEMP")}
    return replace(target, command=words[0], args=tuple(words[1:]), env=env)


def trace_of(folder: Path) -> Path:
    """Where a twin's attempts are written."""
    return folder / "trace"


def _strace(program: str, trace: Path) -> Sequence[str]:
    names = ",".join(f"?{name}" for name in _TRACED)
    told = ("-e", f"trace={names}", "-e", "status=failed", "-e", "signal=none")
    return (
        program,
        "-f",
        "--seccomp-bpf",
        "-qq",
        "-yy",
        "-ttt",
        "-A",
        "-o",
        str(trace),
        *told,
        "--",
    )


def _apart(*, is_open: bool) -> Sequence[str]:
    user, group = (str(one or _UID) for one in (os.getuid(), os.getgid()))
    network = () if is_open else ("--unshare-net",)
    return (
        *("--unshare-user", "--uid", user, "--gid", group, "--cap-drop", "ALL"),
        *("--unshare-pid", "--unshare-ipc", "--die-with-parent", *network),
    )


def _masks(own: Iterable[str], *, is_open: bool) -> Sequence[str]:
    """Hide what can be written to by speaking with it: sockets, whoever listens there."""
    words = ["--tmpfs", "/run"]
    resolver = _RESOLVER.resolve()
    if is_open and resolver.is_relative_to(_RUN):
        words += ["--ro-bind-try", str(resolver), str(resolver)]
    for path in _sockets():
        if not path.is_relative_to(_RUN) and not any(path.is_relative_to(one) for one in own):
            words += ["--ro-bind-try", "/dev/null", str(path)]
    return words


def _sockets() -> list[Path]:
    """The Unix sockets that somebody listens on, by their real paths."""
    try:
        lines = _LISTENING.read_text(errors="surrogateescape").splitlines()[1:]
    except OSError:
        return []
    named = {line.split(" ", 7)[-1].partition("/")[2] for line in lines if "/" in line}
    found: set[Path] = set()
    for name in sorted(named)[:_MOST_SOCKETS]:
        with suppress(OSError):
            path = Path(f"/{name}").resolve(strict=True)
            if stat.S_ISSOCK(path.stat().st_mode):
                found.add(path)
    return sorted(found)
