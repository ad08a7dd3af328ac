"""A test of whether this machine can enforce a server's contract."""

import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import anyio

from sayso.connect import CommandTarget
from sayso.contract.wrap import trace_of, wrap
from sayso.errors import UncontainedError
from sayso.sandbox import Programs, find_programs

_SECONDS: Final = 15
_NEEDED: Final = {"bwrap": "bubblewrap", "strace": "strace", "unshare": "util-linux"}
_FIX: Final = "Allow user namespaces, or remove “contract” from the configuration."

_proved: set[Programs] = set()
"""The programs that have passed the test since this process started."""


async def check_ready(names: Sequence[str], programs: Programs | None = None) -> Programs:
    """Return the programs that enforce the contracts of the servers `names`.

    Raises `UncontainedError` if a program is missing, or if a forbidden test write is not blocked
    and recorded.
    """
    installed = programs or find_programs()
    where = ", ".join(names)
    if missing := [package for name, package in _NEEDED.items() if not installed.has(name)]:
        what = f"contract mode does not work on this machine: not installed: {', '.join(missing)}"
        fix = f"Run apt-get install {' '.join(missing)}, or remove “contract”."
        raise UncontainedError(what, where=where, fix=fix)
    if installed in _proved:
        return installed
    with tempfile.TemporaryDirectory(prefix="sayso-contract-") as folder:
        if complaint := await _try(Path(folder), installed):
            what = f"contract mode does not work on this machine: {complaint}"
            raise UncontainedError(what, where=where, fix=_FIX)
    _proved.add(installed)
    return installed


async def _try(folder: Path, programs: Programs) -> str:
    """Let a read-only process try a forbidden write. Return why the test failed, or ""."""
    file = folder / "kept"
    code = f"open({str(file)!r}, 'w')"
    target = CommandTarget("try", sys.executable, ("-IS", "-c", code))
    target = wrap(target, folder, programs, is_open=False)
    try:
        with anyio.fail_after(_SECONDS):
            done = await anyio.run_process(
                [target.command, *target.args],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                check=False,
                cwd="/",
            )
    except (OSError, TimeoutError) as error:
        return str(error) or f"the test did not end within {_SECONDS} s"
    if file.exists():
        return "a test write was not blocked"
    lines = done.stderr.decode(errors="replace").strip().splitlines()
    if "Read-only file system" not in "".join(lines[-1:]):
        return lines[-1] if lines else f"exit code {done.returncode}"
    trace = trace_of(folder)
    if trace.exists() and str(file) in await anyio.Path(trace).read_text(errors="replace"):
        return ""
    return "strace did not record a test write"
