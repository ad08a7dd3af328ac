"""The package that a command runs and the digest of its files, found without running anything.

`None` means that the package is uncertain. Receipts depend on the package, so it is never guessed.
"""

import json
import re
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Final, cast

from sayso.connect.environment import child_environment
from sayso.connect.interpreters import (
    find_distribution,
    find_named,
    find_script,
    is_python,
    module_in,
    packages_of,
    venv_of,
)
from sayso.connect.kinds import CommandTarget
from sayso.connect.loading import python_files, shadowing
from sayso.connect.package_digest import digest_of, digests_of, files_below
from sayso.connect.startup import BYTECODE, has_bytecode, is_accounted_for, steering

_LAUNCH: Final = "sayso.connect.launch"
_NODE_CODE: Final = frozenset({".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".node", ".wasm"})
_LARGEST_JSON: Final = 1_000_000
_NPM: Final = re.compile(
    r"(?P<name>(?:@[a-z0-9~_.-]+/)?[a-z0-9~_-][a-z0-9~_.-]*)(?:@(?P<version>\d[\w.+-]*))?"
)
_TOOL: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")

Described = dict[str, Any]


def describe_package(target: CommandTarget) -> Described | None:
    """Return `{"kind", "name", "version", "digest", "files"}` of the package that a target runs.

    Return `None` if it is uncertain. Files are read, nothing is run. `kind` is `script`, `pypi` or
    `npm`; `files` has the digest of each file by its path. The digest excludes dependencies, the
    start command and bytecode in `__pycache__`. If there is such bytecode, the key
    `startup.BYTECODE` is set; `startup.NO_FOREIGN_BYTECODE` keeps a process from loading it.
    """
    if steering(target.env):
        return None
    try:
        return _Describer(target).describe()
    except (OSError, ValueError, RecursionError):
        return None


def describe_installed(kind: str, name: str, folder: Path) -> Described | None:
    """Describe a package in its own folder: one of `npm install`, or a virtual environment."""
    try:
        if kind == "npm":
            return _npm(folder / "node_modules" / name)
        site = packages_of(folder / "bin" / "python", folder)
        return site and find_named(site, name)
    except (OSError, ValueError, RecursionError):
        return None


class _Describer:
    def __init__(self, target: CommandTarget) -> None:
        self._words = target.args
        self._folder = Path.cwd() if target.cwd is None else Path(target.cwd)
        self._env = child_environment(target.env)
        self._home = Path(self._env.get("HOME", "/"))
        self._command = shutil.which(target.command, path=self._env.get("PATH"))

    def describe(self) -> Described | None:
        if self._command is None:
            return None
        command = self._folder / self._command
        if is_python(command.name):
            return self._python(command)
        runners: dict[str, Callable[[], Described | None]] = {
            "node": self._node,
            "npx": self._npx,
            "uvx": self._uvx,
        }
        if command.name in runners:
            return runners[command.name]()
        if (script := command.resolve()).suffix in _NODE_CODE:
            return _node_script(script)
        return self._console_script(command)

    def _python(self, command: Path) -> Described | None:
        match self._words:
            case ("-m", module, script, *_) if module == _LAUNCH:
                return self._python_script(command, script, is_launched=True)
            case ("-m", module, *_):
                # The start folder comes before all installed packages.
                if module_in(self._folder, module):
                    return None
                return self._installed(
                    command, self._folder, lambda site: find_distribution(site, module)
                )
            case (script, *_) if script.endswith(".py"):
                return self._python_script(command, script)
            case _:
                return None

    def _python_script(
        self, command: Path, script: str, *, is_launched: bool = False
    ) -> Described | None:
        """Describe the script with the code in and below its folder that it may load.

        A script that sayso launches also loads code from the folder where it starts.
        """
        path = self._folder / script
        if not path.is_file():
            return None
        file = path.resolve()
        site = packages_of(command, self._home)
        if site is not None and not is_accounted_for(site, venv_of(command)):
            return None
        files = python_files(file, site)
        if is_launched and self._folder.resolve() != file.parent:
            sources = [source for source in files if source.suffix == ".py" or source == file]
            if module_in(self._folder, _LAUNCH) or shadowing(self._folder, site, sources):
                return None
        return _described("script", file.stem, "", file.parent, files)

    def _console_script(self, command: Path) -> Described | None:
        if venv_of(command) is None:
            return None
        return self._installed(command, command.parent, lambda site: find_script(site, command))

    def _installed(
        self, command: Path, first: Path, find: Callable[[Path], Described | None]
    ) -> Described | None:
        """Return the result of `find`, or `None` if code in `first` may hide the package."""
        site = packages_of(command, self._home)
        if site is None or not is_accounted_for(site, venv_of(command)) or shadowing(first, site):
            return None
        return find(site)

    def _node(self) -> Described | None:
        if not self._words or self._words[0].startswith("-"):
            return None
        return _node_script((self._folder / self._words[0]).resolve())

    def _npx(self) -> Described | None:
        """Describe the package that is installed here or in npx's cache for this command."""
        words = [word for word in self._words if word not in ("-y", "--yes")]
        match = _NPM.fullmatch("".join(words[:1]))
        if match is None:
            return None
        name = match["name"]
        version = match["version"] or ""
        for folder in (self._folder, *self._folder.resolve().parents):
            if (found := folder / "node_modules" / name).is_dir():
                return _npm(found, version)
        cache = self._env.get("npm_config_cache") or self._home / ".npm"
        fetched = [
            folder / "node_modules" / name
            for folder in sorted((Path(cache) / "_npx").glob("*"))
            if _requests(folder / "package.json") == [words[0]]
        ]
        if len(fetched) != 1:
            return None
        return _npm(fetched[0], version)

    def _uvx(self) -> Described | None:
        """Describe the installed tool, or return `None` if uvx would download it."""
        name = "".join(self._words[:1])
        if not _TOOL.fullmatch(name):
            return None
        data = self._env.get("XDG_DATA_HOME") or self._home / ".local" / "share"
        tools = self._env.get("UV_TOOL_DIR") or Path(data) / "uv" / "tools"
        script = Path(tools) / name / "bin" / name
        if not script.is_file():
            return None
        return self._console_script(script)


def _node_script(script: Path) -> Described | None:
    """Describe a Node.js script: the package around it, or else the code beside it."""
    for folder in script.parents:
        if (folder / "package.json").is_file():
            return _npm(folder)
    if not script.is_file():
        return None
    beside = [
        file for file in files_below(script.parent) if file.suffix in _NODE_CODE or file == script
    ]
    return _described("script", script.stem, "", script.parent, beside)


def _npm(folder: Path, wanted: str = "") -> Described | None:
    about = _object(folder / "package.json")
    name = about.get("name")
    version = about.get("version", "")
    if not isinstance(name, str) or not isinstance(version, str):
        return None
    if wanted not in ("", version):
        return None
    folder = folder.resolve()
    files = files_below(folder, has_hidden="node_modules" in folder.parts)
    if any(
        "node_modules" not in file.relative_to(folder).parts and file.is_dir() for file in files
    ):
        return None  # the target of a link may change independently
    return _described("npm", name, version, folder, files)


def _requests(file: Path) -> object:
    if not file.is_file():
        return None
    about: object = _object(file).get("_npx")
    return isinstance(about, dict) and cast("dict[str, object]", about).get("packages")


def _object(file: Path) -> dict[str, Any]:
    with file.open("rb") as opened:
        value: object = json.loads(opened.read(_LARGEST_JSON))
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _described(kind: str, name: str, version: str, root: Path, files: Iterable[Path]) -> Described:
    digests = digests_of(root, files)
    digest = digest_of(digests)
    description: Described = {"kind": kind, "name": name, "version": version, "digest": digest}
    description["files"] = digests
    if has_bytecode(root, digests):
        description[BYTECODE] = True
    return description
