"""Whether this machine can hold a server to its contract: tried, or refused."""

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
_FIX: Final = (
    "Allow user namespaces (see docs/troubleshooting.md, uncontained), or take “contract” out."
)

_proved: set[Programs] = set()
"""What was tried and holds, for as long as this process runs."""


async def check_ready(names: Sequence[str], programs: Programs | None = None) -> Programs:
    """The programs that hold servers to their contracts.

    Raises `UncontainedError` where they are missing, or do not see or hold what is tried: the
    servers `names` would else run as if nobody had asked for it.
    """
    found = programs or find_programs()
    where = ", ".join(names)
    if missing := [package for name, package in _NEEDED.items() if not found.has(name)]:
        what = f"contract mode cannot hold it here: {' and '.join(missing)} not installed"
        fix = f"Install it (apt-get install {' '.join(missing)}), or take “contract” out."
        raise UncontainedError(what, where=where, fix=fix)
    if found in _proved:
        return found
    with tempfile.TemporaryDirectory(prefix="sayso-contract-") as folder:
        if complaint := await _try(Path(folder), found):
            what = f"contract mode cannot hold it here: {complaint}"
            raise UncontainedError(what, where=where, fix=_FIX)
    _proved.add(found)
    return found


async def _try(folder: Path, programs: Programs) -> str:
    """Have a twin try to write where it must not; what is wrong, or nothing."""
    file = folder / "kept"
    code = f"open({str(file)!r}, 'w')"
    twin = wrap(
        CommandTarget("try", sys.executable, ("-IS", "-c", code)), folder, programs, is_open=False
    )
    try:
        with anyio.fail_after(_SECONDS):
            done = await anyio.run_process(
                [twin.command, *twin.args],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                check=False,
                cwd="/",
            )
    except (OSError, TimeoutError) as error:
        return str(error) or f"no end within {_SECONDS} s"
    if file.exists():
        return "what it must not write, it can"
    said = done.stderr.decode(errors="replace").strip().splitlines()
    if "Read-only file system" not in "".join(said[-1:]):
        return said[-1] if said else f"exit code {done.returncode}"
    trace = trace_of(folder)
    is_seen = trace.exists() and str(file) in await anyio.Path(trace).read_text(errors="replace")
    if not is_seen:
        return "strace does not see what it tries"
    return ""
