"""The minimal root for a command: the host files that it needs to start."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from sayso.errors import UsageError
from sayso.sandbox import node, python
from sayso.sandbox.bind import Bind, folder_or_file, is_crowded, is_system, tidy
from sayso.sandbox.executables import find_program, interpreter_words

_DEPTH: Final = 4
"""The maximum length of a chain of interpreters."""

_SHELLS: Final = frozenset(("ash", "bash", "dash", "ksh", "sh", "zsh"))

SYSTEM_PATH: Final = "/usr/local/bin:/usr/bin:/bin"


@dataclass(frozen=True, slots=True)
class Root:
    """The minimal root of a command.

    `command` has absolute paths; `search` is its PATH inside; `cwd` its working folder, if any.
    `binds` have the same path inside as outside, outer folders first.
    """

    command: tuple[str, ...]
    binds: tuple[Bind, ...]
    search: str
    cwd: str | None = None


def find_root(
    command: Sequence[str], *, search: str, cwd: Path, server_cwd: Path | None = None
) -> Root:
    """Find the files that a command needs, without running it.

    Relative paths start at `cwd`; the server's working folder will be `server_cwd`. Raises
    `CommandNotFoundError` for an unknown command, and `UsageError` if `server_cwd` is shared with
    other programs, such as a home.
    """
    if not command:
        raise UsageError("the command is missing", fix="Write it after --.")
    words, binds = _resolve(command, search, cwd, _DEPTH)
    if server_cwd is not None:
        binds = [*binds, _working_folder(server_cwd)]
    tidied = tidy(binds)
    if server_cwd is None and any(bind.path == cwd for bind in tidied):
        server_cwd = cwd
    return Root(words, tidied, _search_inside(words, tidied), server_cwd and str(server_cwd))


def _resolve(
    command: Sequence[str], search: str, cwd: Path, depth: int
) -> tuple[tuple[str, ...], list[Bind]]:
    program = find_program(command[0], search=search, cwd=cwd).absolute()
    if python.is_python(program):
        args, binds = python.script_binds(command[1:], cwd)
        return (str(program), *args), [*python.interpreter_binds(program), *binds]
    if node.is_node(program) and not interpreter_words(program):
        args, binds = node.script_binds(command[1:], cwd)
        real = program.resolve()
        return (str(real), *args), [*node.interpreter_binds(program), *binds]
    words = interpreter_words(program)
    if words and depth:
        # A script finds its neighbours next to the resolved path.
        script = program.resolve()
        args, binds = _resolve((*words, str(script), *command[1:]), search, cwd, depth - 1)
        if "/" not in command[0]:
            binds = [_alone(bind, script) for bind in binds]
        return args, binds
    return _plain(program, command, cwd)


def _plain(program: Path, command: Sequence[str], cwd: Path) -> tuple[tuple[str, ...], list[Bind]]:
    words = [str(program), *command[1:]]
    binds = [Bind(program.resolve())]
    if not is_system(program):
        words[0] = str(program.resolve())
    if program.name in _SHELLS:
        for index, word in enumerate(words[1:], start=1):
            script = (cwd / word).absolute()
            if not word.startswith("-") and script.is_file():
                words[index] = str(script)
                binds.append(Bind(folder_or_file(script), is_package=True))
            if not word.startswith("-"):
                break
    return tuple(words), binds


def _alone(bind: Bind, script: Path) -> Bind:
    """Replace the bind of a script's folder by one of the script only: others share the folder."""
    if bind.path == script.parent:
        return Bind(script, is_package=True)
    return bind


def _working_folder(path: Path) -> Bind:
    if is_crowded(path):
        what = "the working folder is shared, and the server would see all of it"
        raise UsageError(what, where=str(path), fix="Give a separate folder with --cwd, or none.")
    return Bind(path, is_package=True)


def _search_inside(words: Sequence[str], binds: Sequence[Bind]) -> str:
    own = [str(Path(words[0]).parent)]
    own += [str(bind.path / "bin") for bind in binds if (bind.path / "bin").is_dir()]
    system = SYSTEM_PATH.split(":")
    return ":".join(dict.fromkeys([*own, *system]))
