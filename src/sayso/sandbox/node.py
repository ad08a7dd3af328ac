"""The files that a JavaScript program needs: interpreter, package, surrounding packages."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from sayso.sandbox.bind import Bind, folder_or_file, is_crowded

_NAMES: Final = frozenset(("bun", "deno", "node", "nodejs", "tsx", "ts-node"))
_WITH_VALUE: Final = frozenset(
    ("--conditions", "--env-file", "--import", "--loader", "--require", "-C", "-r")
)
_VERBS: Final = frozenset(("run",))
"""Verbs of bun and deno before the script."""


def is_node(program: Path) -> bool:
    """Return whether a program runs JavaScript, by its name."""
    return program.name in _NAMES


def interpreter_binds(program: Path) -> Iterator[Bind]:
    """Yield the folder that holds an interpreter's `bin`, or only the interpreter."""
    real = program.resolve()
    prefix = real.parent.parent
    is_own = real.parent.name == "bin" and not is_crowded(prefix)
    if is_own and (prefix / "lib" / "node_modules").is_dir():
        yield Bind(prefix)
    else:
        yield Bind(real)


def script_binds(args: Sequence[str], cwd: Path) -> tuple[tuple[str, ...], list[Bind]]:
    """Return the arguments with the script's path made absolute, and the script's binds."""
    words = list(args)
    index = 0
    while index < len(words):
        word = words[index]
        if word in _WITH_VALUE:
            index += 2
        elif word.startswith("-") or word in _VERBS:
            index += 1
        else:
            script = (cwd / Path(word).expanduser()).absolute()
            if not script.exists():
                break
            words[index] = str(script.resolve())
            return tuple(words), package_binds(script.resolve())
    return tuple(words), []


def package_binds(script: Path) -> list[Bind]:
    """Return the script's package, or the outermost `node_modules` around it.

    Without `node_modules` around it, also folders of packages that it may import.
    """
    above = [parent for parent in script.parents if not is_crowded(parent)]
    modules = [parent for parent in above if parent.name == "node_modules"]
    if modules:
        return [Bind(modules[-1], is_package=True)]
    roots = [parent for parent in above if (parent / "package.json").is_file()]
    folders = roots[:1] or [folder_or_file(script)]
    folders += [
        parent / "node_modules" for parent in script.parents if (parent / "node_modules").is_dir()
    ]
    return [Bind(path, is_package=True) for path in folders]
