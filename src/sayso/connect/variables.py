"""Variables in a client's configuration: `${NAME}` and the other forms that clients write."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from sayso.errors import KeysError
from sayso.keys import find_reference

_VARIABLE: Final = re.compile(r"\$\{([^{}]*)\}")
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_EDITOR_FOLDERS: Final = frozenset({".vscode", ".cursor", ".gemini"})


class VariableError(ValueError):
    """A variable without a value. Its message never contains a value."""

    def __init__(self, what: str, fix: str) -> None:
        super().__init__(what)
        self.what = what
        self.fix = fix


@dataclass(frozen=True, slots=True)
class Scope:
    """The source of variables' values."""

    environ: Mapping[str, str]
    workspace: Path
    home: Path

    @classmethod
    def of(cls, config: str) -> "Scope":
        """Return the scope of a configuration file: the environment, and the file's workspace."""
        folder = Path(config).absolute().parent
        if folder.name in _EDITOR_FOLDERS:
            folder = folder.parent
        return cls(os.environ, folder, Path.home())

    def expand(self, text: str, *, may_be_bare: bool = False) -> str:
        """Replace each variable in `text` by its value. Raises `VariableError`.

        Forms are `${NAME}` (all clients), `${NAME:-default}` (Claude Code), `${env:NAME}` (Cursor,
        VS Code), `${file:PATH}` (sayso: a file with one line) and the editors' folders. With
        `may_be_bare`, `text` may also be only `$NAME` of a set variable (Gemini CLI). Values are
        not expanded again.
        """
        if may_be_bare and text.startswith("$") and text[1:] in self.environ:
            return self.environ[text[1:]]
        return _VARIABLE.sub(lambda match: self._value(match[1]), text)

    def _value(self, inside: str) -> str:
        folders = {
            "workspaceFolder": str(self.workspace),
            "workspaceFolderBasename": self.workspace.name,
            "userHome": str(self.home),
            "pathSeparator": os.sep,
            "/": os.sep,
        }
        if inside in folders:
            return folders[inside]
        if inside.startswith("file:"):
            return self._line_in(inside)
        name, has_default, default = inside.removeprefix("env:").partition(":-")
        if not _NAME.fullmatch(name):
            raise _unknown(inside)
        if name in self.environ:
            return self.environ[name]
        if has_default:
            return default
        fix = f"Set {name} before you start sayso."
        raise VariableError(f"the environment variable {name} is not set", fix)

    def _line_in(self, inside: str) -> str:
        found = find_reference(inside, self.workspace)
        if found is None:
            raise _unknown(inside)
        try:
            return found.read()
        except KeysError as error:
            fix = error.fix or "Correct the path; it is relative to the configuration's folder."
            raise VariableError(f"${{{inside}}}: {error.what}", fix) from error


def _unknown(inside: str) -> VariableError:
    if inside.startswith("input:"):
        name = re.sub(r"[^A-Z0-9]+", "_", inside.removeprefix("input:").upper()).strip("_")
        fix = f"Put the value into an environment variable and write ${{env:{name}}} instead."
        return VariableError(f"${{{inside}}} is a question that only the editor can ask", fix)
    names = ("NAME", "NAME:-default", "env:NAME", "file:PATH", "workspaceFolder")
    known = f"{', '.join(f'${{{name}}}' for name in names)} and ${{userHome}}"
    return VariableError(f"unknown variable ${{{inside}}}", f"Known are {known}.")
