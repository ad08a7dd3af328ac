"""The prepare step, which may use the network: it installs a server and does not start it.

The step runs in a box without an overlay, with this machine's network.
"""

import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, cast

import anyio

from sayso.errors import UnreachableError, UsageError
from sayso.sandbox import bubblewrap
from sayso.sandbox.bind import Bind, tidy
from sayso.sandbox.copies import copy_tree
from sayso.sandbox.executables import interpreter_words
from sayso.sandbox.fetched import Fetched, read_fetched
from sayso.sandbox.filter import filter_program
from sayso.sandbox.installer_environment import online_environment, paths_named, settings_seen
from sayso.sandbox.layout import Layout, make_home
from sayso.sandbox.limits import Limits
from sayso.sandbox.mount import Place, Role
from sayso.sandbox.private import private_folder
from sayso.sandbox.probe import check_layers
from sayso.sandbox.programs import find_programs
from sayso.sandbox.python import interpreter_binds
from sayso.sandbox.root import SYSTEM_PATH, Root, find_root
from sayso.sandbox.spec import Layer, Prepared
from sayso.sandbox.start import box_words, environment_inside, write_start

INSIDE: Final = "/prepared"
"""Path of an installed package inside the step's box and every later one."""

_SECONDS: Final = 600
_LAST_LINES: Final = 5


async def prepare_fetched(
    command: Sequence[str], into: Path, *, layers: Sequence[Layer], runs_scripts: bool = False
) -> Prepared | None:
    """Install what `npx` or `uvx` would fetch into an empty folder. For others return `None`.

    Package scripts run only with `runs_scripts`, and only those of npm packages; for PyPI nothing
    is built. Raises `UnreachableError` with the installer's last lines on failure, and
    `UncontainedError` without containment.
    """
    fetched = read_fetched(command)
    if fetched is None:
        return None
    if fetched.kind == "npm":
        words = ["npm", "install", "--prefix", INSIDE, "--no-audit", "--no-fund"]
        line = shlex.join([*words, "--ignore-scripts", "--", *fetched.specs])
        await _install(line, into, ("npm",), layers=layers)
        scripted = await anyio.to_thread.run_sync(scripted_packages, into)
        if runs_scripts and scripted:
            # A second step, because the first one may see a registry's token; scripts must not.
            await _install(_scripts_line(), into, ("npm",), layers=layers, allows_scripts=True)
            scripted = ()
        prepared = await anyio.to_thread.run_sync(_installed_by_npm, fetched, into)
        return replace(prepared, unscripted=scripted)
    await _install(_uv_line(fetched), into, ("uv", _base()), layers=layers)
    return await anyio.to_thread.run_sync(_installed_by_uv, fetched, into)


async def prepare_by(
    line: str,
    into: Path,
    command: Sequence[str],
    *,
    layers: Sequence[Layer],
    project: Path | None = None,
) -> Prepared:
    """Run the operator's shell line (`--prepare CMD`) before `command` is started.

    The line runs in a copy of `project`, seen at that path, or else in an empty folder at
    `/prepared`. It may run the scripts of packages.
    """
    inside = INSIDE
    if project:
        inside = str(project)
        await anyio.to_thread.run_sync(lambda: (into.rmdir(), copy_tree(project, into)))
    programs = tuple(name for name in ("npm", "uv") if shutil.which(name))
    starting = await anyio.to_thread.run_sync(_root_of, command, inside)
    programs += (_base(),)
    await _install(line, into, programs, layers=layers, allows_scripts=True, inside=inside)
    binds = tuple(bind.path for bind in starting.binds if not bind.path.is_relative_to(inside))
    return Prepared(into, inside, starting.command, starting.search, binds)


def _root_of(command: Sequence[str], inside: str) -> Root:
    if Path(command[0]).is_relative_to(inside):
        root = find_root([_base()], search=SYSTEM_PATH, cwd=Path.cwd())
        return Root(tuple(command), root.binds, f"{inside}/bin:{root.search}")
    search = os.environ.get("PATH", os.defpath)
    return find_root(command, search=search, cwd=Path.cwd())


def _base() -> str:
    return str(Path(sys.executable).resolve())


def _uv_line(fetched: Fetched) -> str:
    make = ["uv", "venv", "--quiet", "--allow-existing", "--python", _base(), INSIDE]
    install = [
        *("uv", "pip", "install", "--quiet", "--link-mode", "copy", "--compile-bytecode"),
        *("--python", f"{INSIDE}/bin/python", "--only-binary", ":all:", "--", *fetched.specs),
    ]
    return f"{shlex.join(make)} && {shlex.join(install)}"


async def _install(
    line: str,
    into: Path,
    programs: Sequence[str],
    *,
    layers: Sequence[Layer],
    allows_scripts: bool = False,
    inside: str = INSIDE,
) -> None:
    check_layers(layers)
    async with private_folder() as folder:
        command = await anyio.to_thread.run_sync(
            lambda: _starter(
                line, into, programs, folder=folder, allows_scripts=allows_scripts, inside=inside
            )
        )
        try:
            with anyio.fail_after(_SECONDS):
                done = await anyio.run_process(
                    command,
                    stdin=subprocess.DEVNULL,
                    check=False,
                    cwd="/",
                    env={"PATH": SYSTEM_PATH},
                    start_new_session=True,
                )
        except TimeoutError as error:
            what = f"installing timed out after {_SECONDS} s"
            raise UnreachableError(what, where=line, fix="Install it yourself.") from error
    if done.returncode != 0:
        lines = (done.stdout + done.stderr).decode(errors="replace").strip().splitlines()
        reason = " / ".join(lines[-_LAST_LINES:]) or f"exit code {done.returncode}"
        fix = "If the package must be built or runs install scripts, use --prepare CMD."
        raise UnreachableError(f"installing failed: {reason}", where=line, fix=fix)


def _starter(
    line: str,
    into: Path,
    programs: Sequence[str],
    *,
    folder: Path,
    allows_scripts: bool,
    inside: str,
) -> tuple[str, ...]:
    search = os.environ.get("PATH", os.defpath)
    roots = [find_root([name], search=search, cwd=Path.cwd()) for name in programs]
    online = online_environment(bubblewrap.HOME, allows_scripts=allows_scripts)
    named = paths_named(online, allows_scripts=allows_scripts)
    binds = tidy([bind for root in roots for bind in root.binds] + [Bind(path) for path in named])
    folders = [str(Path(name).parent) for root in roots for name in root.command[:1]]
    path = ":".join(dict.fromkeys([*folders, *SYSTEM_PATH.split(":")]))
    layout = Layout(folder, bubblewrap.HOME, Root(("/bin/sh", "-c", line), binds, path, inside))
    layout.seen = [(str(bind.path), bind.path) for bind in binds]
    layout.seen += settings_seen(allows_scripts=allows_scripts)
    (folder / "tmp").mkdir()
    layout.places = [
        Place(bubblewrap.HOME, make_home(folder), Role.HOME),
        Place("/tmp", folder / "tmp", Role.TEMPORARY),  # noqa: S108 - inside, and its own
        Place(inside, into, Role.PACKAGE),
    ]
    environment = environment_inside(layout.home, path, online)
    words = box_words(layout, environment, find_programs(), is_online=True)
    is_filtered = bool(filter_program())
    return write_start(layout, words, find_programs(), limits=Limits(), is_filtered=is_filtered)


def _scripts_line() -> str:
    """Return the line that runs the install scripts of all installed packages.

    node-gyp downloads the headers of Node unless it is told where they are.
    """
    line = shlex.join(["npm", "rebuild", "--prefix", INSIDE, "--foreground-scripts"])
    node = Path(shutil.which("node") or "/usr/bin/node").resolve().parent.parent
    if (node / "include" / "node" / "node.h").is_file():
        return f"npm_config_nodedir={shlex.quote(str(node))} {line}"
    return line


def scripted_packages(into: Path) -> tuple[str, ...]:
    """Return the packages in a folder of `npm install` that have install scripts, sorted.

    npm notes this in its lock file (package-lock.json, `hasInstallScript`).
    """
    try:
        text = (into / "node_modules" / ".package-lock.json").read_text(encoding="utf-8")
        packages = cast("dict[str, dict[str, Any]]", json.loads(text).get("packages", {}))
    except (OSError, ValueError):
        return ()
    names = (
        path.rpartition("node_modules/")[2]
        for path, entry in packages.items()
        if entry.get("hasInstallScript") is True
    )
    return tuple(sorted(set(names)))


def _installed_by_npm(fetched: Fetched, into: Path) -> Prepared:
    modules = into / "node_modules"
    folder = modules / fetched.name
    entry = _entry_point(fetched, modules, folder)
    words = interpreter_words(entry)
    node = find_root(["node"], search=os.environ.get("PATH", os.defpath), cwd=Path.cwd())
    inside = f"{INSIDE}/{entry.relative_to(into.resolve())}"
    if not words or Path(words[0]).name in ("node", "nodejs"):
        words = node.command
    command = (*words, inside, *fetched.args)
    binds = tuple(bind.path for bind in node.binds)
    return Prepared(into, INSIDE, command, node.search, binds, fetched.kind, fetched.name)


def _entry_point(fetched: Fetched, modules: Path, folder: Path) -> Path:
    if fetched.program:
        entry = modules / ".bin" / fetched.program
    else:
        text = (folder / "package.json").read_text(encoding="utf-8")
        programs: object = cast("dict[str, Any]", json.loads(text)).get("bin") or {}
        if isinstance(programs, str):
            programs = {"": programs}
        named = cast("dict[str, str]", programs)
        entry_path = named.get(fetched.name.rpartition("/")[2]) or next(iter(named.values()), "")
        entry = folder / entry_path
    if not entry.is_file():
        fix = "Name its program: npx -p PACKAGE PROGRAM."
        raise UsageError("the package has no program to run", where=fetched.name, fix=fix)
    return entry.resolve()


def _installed_by_uv(fetched: Fetched, into: Path) -> Prepared:
    program = into / "bin" / fetched.program
    if not program.exists():
        programs = sorted(path.name for path in (into / "bin").iterdir())
        fix = f"Write uvx --from PACKAGE PROGRAM; it has {', '.join(programs)}."
        raise UsageError("the package has no such program", where=fetched.program, fix=fix)
    binds = tuple(bind.path for bind in tidy(interpreter_binds(Path(_base()))))
    command = (f"{INSIDE}/bin/{fetched.program}", *fetched.args)
    search = f"{INSIDE}/bin:{SYSTEM_PATH}"
    return Prepared(into, INSIDE, command, search, binds, fetched.kind, fetched.name)
