"""The shell script that starts a box, and the server's environment."""

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from sayso.connect import child_environment
from sayso.sandbox import bubblewrap
from sayso.sandbox.bind import is_system
from sayso.sandbox.filter import filter_program
from sayso.sandbox.forward import Gate
from sayso.sandbox.layout import XDG, Layout
from sayso.sandbox.limits import Limits, limit_words
from sayso.sandbox.overlay import namespace_words
from sayso.sandbox.programs import Programs
from sayso.sandbox.root import SYSTEM_PATH
from sayso.trace import TRACED

FILTERED: Final = ("--seccomp", "6")
"""bubblewrap's option that reads the filter from a file descriptor."""

_KEPT: Final = ("LANG", "LC_ALL", "TERM", "TZ")
"""Variables that reveal nothing about this machine and its user."""


def environment_inside(
    home: str,
    search: str,
    given: Mapping[str, str],
    *,
    temporary: str = "/tmp",  # noqa: S108 - its own
) -> dict[str, str]:
    """Return the whole environment of a server: private HOME, PATH, and `given` variables."""
    outside = child_environment({})
    kept = {name: outside[name] for name in _KEPT if name in outside}
    folders = {name: f"{home}/{below}" for name, below in XDG.items()}
    person = {"USER": bubblewrap.USER, "LOGNAME": bubblewrap.USER, "SHELL": "/bin/sh"}
    return {
        "LANG": "C.UTF-8",
        **kept,
        **person,
        "HOME": home,
        "PATH": search,
        "TMPDIR": temporary,
        **folders,
        # A tracer cannot see what libuv does over io_uring (libuv, uv_loop_configure).
        "UV_USE_IO_URING": "0",
        **given,
    }


def box_words(
    layout: Layout, environment: Mapping[str, str], programs: Programs, *, is_online: bool = False
) -> tuple[str, ...]:
    """Return bubblewrap's arguments, without the command."""
    cwd = layout.root.cwd or layout.world or layout.home
    apart = [*bubblewrap.USERS_APART, *bubblewrap.PROCESSES_APART]
    if not is_online:
        apart += bubblewrap.NETWORK_APART
    if programs.is_sealing:
        apart.append("--disable-userns")
    variables = [word for each in environment.items() for word in ("--setenv", *each)]
    return (
        *apart,
        *("--clearenv", *variables),
        *bubblewrap.system_words(),
        *bubblewrap.etc_words(layout.folder / "etc", is_online=is_online),
        *layout.words(),
        *bubblewrap.SEALED,
        *("--chdir", cwd),
    )


def write_start(
    layout: Layout,
    words: tuple[str, ...],
    programs: Programs,
    *,
    limits: Limits,
    trace: Path | None = None,
    gate: Gate | None = None,
    is_filtered: bool = False,
) -> tuple[str, ...]:
    """Write the script that starts the box's server; return the command that runs it.

    bubblewrap's arguments go through a file: all users can read a command line, and the variables
    may hold secrets.
    """
    file = layout.folder / "words"
    options = [*words]
    redirected = f"9<{file}"
    if gate is not None:
        options += gate.words()
        redirected += f" {gate.redirections()}"
    if is_filtered:
        options += FILTERED
        program = layout.folder / "filter"
        program.write_bytes(filter_program())
        redirected += f" 6<{program}"
    file.write_bytes(b"".join(word.encode("utf-8", "surrogateescape") + b"\0" for word in options))
    file.chmod(0o600)
    limited: tuple[str, ...] = ()
    # `prlimit` runs inside the box, so it must be in a system folder.
    if programs.prlimit and is_system(Path(programs.prlimit)):
        limited = limit_words(limits, program=programs.prlimit)
    command = (
        # The environment of the box's first process names the box; the watchdog reads it.
        *("/usr/bin/env", "-i", f"PATH={SYSTEM_PATH}", f"SAYSO_BOX={layout.folder}/"),
        *strace_words(programs.strace, trace),
        *(programs.bwrap, "--args", "9", "--", *limited, *layout.root.command),
    )
    script = layout.folder / "start"
    lines = ["set -eu", *layout.lines, f"exec {shlex.join(command)} {redirected}", ""]
    script.write_text("\n".join(lines), encoding="utf-8", errors="surrogateescape")
    start = (*ending_words(programs), "/bin/sh", str(script))
    if not layout.lines:
        return start
    return (*namespace_words(programs), *start)


def ending_words(programs: Programs) -> tuple[str, ...]:
    """Return the command prefix that ends a program when sayso ends; strace would run on."""
    if not programs.setpriv:
        return ()
    return (programs.setpriv, "--pdeathsig", "KILL", "--")


def strace_words(program: str, trace: Path | None) -> tuple[str, ...]:
    """Return the command prefix that appends system calls to `trace`, or nothing without one."""
    if trace is None:
        return ()
    options = ("-f", "--seccomp-bpf", "-yy", "-ttt", "-s", "256", "-A", "-o", str(trace))
    return (program, *options, "-e", f"trace={','.join(TRACED)}", "-e", "signal=none", "--")
