"""The program that a command starts: on the PATH, behind a shim, or in a script's first line."""

import re
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Final

from sayso.errors import CommandNotFoundError

_SECONDS: Final = 10
_FIRST_BYTES: Final = 4096

_SHELL_FIRST: Final = re.compile(r"^'''exec' (?P<words>.+?) \"\$0\" \"\$@\"$", re.MULTILINE)
"""How an installed script begins if its interpreter's path is too long for a `#!` line."""


def find_program(word: str, *, search: str, cwd: Path) -> Path:
    """Return the absolute path of a command's program. Raises `CommandNotFoundError`."""
    given = Path(word).expanduser()
    found = shutil.which(word, path=search)
    if "/" in word:
        found = str(cwd / given)
    if found is None or not Path(found).is_file():
        what = f"command “{word}” not found"
        raise CommandNotFoundError(what, fix="Install it, or give its full path after --.")
    path = Path(found)
    if path.parent.name == "shims":
        return _behind_shim(path, word)
    return path


def _behind_shim(shim: Path, word: str) -> Path:
    """Return the program that a version manager (pyenv, mise, asdf) starts for a shim."""
    manager = shim.parent.parent.name.removeprefix(".")
    program = shutil.which(manager) or str(shim.parent.parent / "bin" / manager)
    try:
        done = subprocess.run(  # noqa: S603 - the manager that owns the shim
            [program, "which", shim.name],
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            check=True,
        )
        return Path(done.stdout.strip())
    except (OSError, subprocess.SubprocessError) as error:
        what = f"“{word}” is a shim, and {manager} does not name its program"
        fix = f"Give the full path that `{manager} which {shim.name}` prints."
        raise CommandNotFoundError(what, where=str(shim), fix=fix) from error


def interpreter_words(script: Path) -> tuple[str, ...]:
    """Return the command in a script's first line, or an empty tuple for other files."""
    try:
        with script.open("rb") as file:
            head = file.read(_FIRST_BYTES)
    except OSError:
        return ()
    if not head.startswith(b"#!"):
        return ()
    text = head.decode(errors="replace")
    if match := _SHELL_FIRST.search(text):
        return tuple(shlex.split(match["words"]))
    words = text.split("\n", 1)[0][2:].split()
    if words and Path(words[0]).name == "env":
        return tuple(word for word in words[1:] if word != "-S" and "=" not in word)
    return tuple(words)


def links_of(path: Path) -> tuple[Path, ...]:
    """Return a path and each path that its symbolic links lead to, the resolved one last."""
    hops = [path]
    while hops[-1].is_symlink() and len(hops) < 40:  # noqa: PLR2004 - as many as the kernel follows
        hops.append(hops[-1].parent / hops[-1].readlink())
    return (*hops, path.resolve())
