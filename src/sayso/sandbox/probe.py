"""The layers of containment that work on this machine, found by running a program in each."""

import platform
import shlex
import shutil
import subprocess
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Final

import anyio

from sayso.errors import UncontainedError
from sayso.sandbox import bubblewrap
from sayso.sandbox.filter import filter_program
from sayso.sandbox.limits import Limits, limit_words
from sayso.sandbox.overlay import mount_lines, namespace_words
from sayso.sandbox.private import private_folder
from sayso.sandbox.programs import Programs, find_programs
from sayso.sandbox.spec import CONTAINING, Layer
from sayso.sandbox.start import FILTERED, strace_words

_SECONDS: Final = 10

_TRUE: Final = "/usr/bin/true"

_NEEDS: Final = {"overlay": "unshare", "syscalls": "strace", "limits": "prlimit"}

_probed: list[tuple[Layer, ...]] = []


async def probe_layers() -> tuple[Layer, ...]:
    """Try each layer separately; the result is kept for the life of this process."""
    if not _probed:
        _probed.append(await _probe(find_programs()))
    return _probed[0]


def check_layers(layers: Sequence[Layer], *, is_uncontained: bool = False) -> None:
    """Raise `UncontainedError` if a required layer is missing."""
    missing = [layer for layer in layers if layer.name in CONTAINING and not layer.is_active]
    untried = CONTAINING - {layer.name for layer in layers}
    missing += [Layer(name, is_active=False) for name in sorted(untried)]
    if not missing or is_uncontained:
        return
    listed = "; ".join(f"{layer.name} ({layer.detail or 'not tried'})" for layer in missing)
    fix = "Allow user namespaces (see docs/guides/troubleshooting.md, uncontained)"
    if any("not installed" in layer.detail for layer in missing):
        fix = "Install bubblewrap (apt-get install bubblewrap)"
    raise UncontainedError(
        f"this machine cannot contain the server: {listed}",
        fix=f"{fix}, or pass --uncontained to run the server with your own rights.",
    )


async def _probe(programs: Programs) -> tuple[Layer, ...]:
    async with private_folder("probe") as folder:
        tried: dict[str, Callable[[], Awaitable[str]]] = {
            "root": lambda: _try_box(programs, ()),
            "users": lambda: _try_box(programs, bubblewrap.USERS_APART),
            "processes": lambda: _try_box(programs, bubblewrap.PROCESSES_APART),
            "network": lambda: _try_box(programs, bubblewrap.NETWORK_APART),
            "private": lambda: _try_box(programs, ("--bind", str(folder), "/tmp")),  # noqa: S108 - inside
            "limits": lambda: _try_limits(programs),
            "filter": lambda: _try_filter(programs, folder / "filter"),
            "overlay": lambda: _try_overlay(programs, folder),
            "syscalls": lambda: _try_strace(programs, folder / "trace"),
        }
        return tuple([await _try_layer(*entry, programs) for entry in tried.items()])


async def _try_layer(name: str, attempt: Callable[[], Awaitable[str]], programs: Programs) -> Layer:
    for program in ("bwrap", _NEEDS.get(name, "bwrap")):
        if not programs.has(program):
            return Layer(name, is_active=False, detail=f"{program} is not installed")
    error = await attempt()
    return Layer(name, is_active=not error, detail=error or _DETAILS[name])


_DETAILS: Final = {
    "root": "bubblewrap: /usr, the interpreter and the package, read-only",
    "users": "a user namespace: the server is user 1000 without capabilities",
    "processes": "a process namespace that ends with sayso",
    "network": "a network namespace with loopback only",
    "private": "private HOME, XDG folders and TMPDIR",
    "limits": "prlimit",
    "filter": "seccomp: no keys, io_uring or BPF, no calls of other machines",
    "overlay": "writes to the package go to an overlay",
    "syscalls": "strace with seccomp-bpf, outside the box",
}


async def _run(words: Sequence[str]) -> str:
    try:
        with anyio.fail_after(_SECONDS):
            done = await anyio.run_process(
                words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=False, cwd="/"
            )
    except TimeoutError:
        return f"timed out after {_SECONDS} s"
    except OSError as error:
        return str(error)
    if done.returncode == 0:
        return ""
    lines = done.stderr.decode(errors="replace").strip().splitlines()
    return lines[-1] if lines else f"exit code {done.returncode}"


def _boxed(programs: Programs, words: Sequence[str], command: Sequence[str]) -> list[str]:
    return [programs.bwrap, *bubblewrap.system_words(), *words, "--", *command]


async def _try_box(programs: Programs, words: Sequence[str]) -> str:
    return await _run(_boxed(programs, (*words, *bubblewrap.SEALED), [_TRUE]))


async def _try_limits(programs: Programs) -> str:
    limited = limit_words(Limits(), program=programs.prlimit)
    return await _run(_boxed(programs, bubblewrap.USERS_APART, [*limited, _TRUE]))


async def _try_filter(programs: Programs, file: Path) -> str:
    program = filter_program()
    if not program:
        return f"no filter for {platform.machine()}"
    await anyio.Path(file).write_bytes(program)
    words = _boxed(programs, (*bubblewrap.USERS_APART, *FILTERED), [_TRUE])
    return await _run(["/bin/sh", "-c", f"exec {shlex.join(words)} 6<{shlex.quote(str(file))}"])


async def _try_overlay(programs: Programs, folder: Path) -> str:
    below = folder / "below"
    below.mkdir()
    (below / "seen").touch()
    lines = mount_lines(below, folder / "layer")
    script = " &&\n".join([*lines, f"test -e {folder}/layer/seen/seen"])
    return await _run([*namespace_words(programs), shutil.which("sh") or "/bin/sh", "-c", script])


async def _try_strace(programs: Programs, trace: Path) -> str:
    words = _boxed(programs, bubblewrap.USERS_APART, [_TRUE])
    error = await _run([*strace_words(programs.strace, trace), *words])
    if error:
        return error
    if f'execve("{_TRUE}"'.encode() not in await anyio.Path(trace).read_bytes():
        return "strace cannot trace into the box"
    return ""
