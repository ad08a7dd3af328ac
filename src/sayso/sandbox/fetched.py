"""Commands that fetch the server they start (`npx`, `uvx`): what they install and run."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from sayso.errors import UsageError

_NPX_FLAGS: Final = frozenset(
    ("-y", "--yes", "-q", "--quiet", "--prefer-offline", "--prefer-online")
)
_UVX_FLAGS: Final = frozenset(("-q", "--quiet", "--isolated", "--no-progress", "--refresh", "-U"))
_NAME: Final = re.compile(r"@?[A-Za-z0-9._-]+(?:/[A-Za-z0-9._-]+)?")


@dataclass(frozen=True, slots=True)
class Fetched:
    """The packages to install, as `specs` (the server's first), and the `program` to start.

    An empty `program` means the only program of the package.
    """

    kind: str
    specs: tuple[str, ...]
    program: str
    args: tuple[str, ...]

    @property
    def name(self) -> str:
        """Return the name of the server's package, without its version."""
        match = _NAME.match(self.specs[0])
        return match[0] if match else self.specs[0]


def read_fetched(command: Sequence[str]) -> Fetched | None:
    """Return what a command would fetch and run; `None` if it fetches nothing.

    Raises `UsageError` for an unknown option, since it may change what is installed.

    >>> read_fetched(["uvx", "mcp-server-git@1.0", "-v"])
    Fetched(kind='pypi', specs=('mcp-server-git==1.0',), program='mcp-server-git', args=('-v',))
    """
    words = list(command)
    if not words:
        return None
    starter = Path(words[0]).name
    if starter == "npx":
        return _read_npx(words[1:])
    if starter == "uvx":
        return _read_uvx(words[1:])
    if starter == "uv" and words[1:3] == ["tool", "run"]:
        return _read_uvx(words[3:])
    return None


def _read_npx(words: Sequence[str]) -> Fetched:
    values, rest = _options(words, {"-p": "package", "--package": "package"}, _NPX_FLAGS)
    packages = tuple(value for _, value in values)
    if packages:
        return Fetched("npm", packages, rest[0], tuple(rest[1:]))
    _refuse_path(rest[0])
    return Fetched("npm", (rest[0],), "", tuple(rest[1:]))


def _read_uvx(words: Sequence[str]) -> Fetched:
    known = {"--from": "from", "--with": "with", "-w": "with", "--python": "python", "-p": "python"}
    values, rest = _options(words, known, _UVX_FLAGS)
    program, _, version = rest[0].partition("@")
    own = program
    if version not in ("", "latest"):
        own = f"{program}=={version}"
    extra = [value for name, value in values if name == "with"]
    source = next((value for name, value in values if name == "from"), own)
    _refuse_path(source)
    return Fetched("pypi", (source, *extra), program, tuple(rest[1:]))


def _options(
    words: Sequence[str], known: dict[str, str], flags: frozenset[str]
) -> tuple[list[tuple[str, str]], list[str]]:
    values: list[tuple[str, str]] = []
    rest = list(words)
    while rest and rest[0].startswith("-"):
        word = rest.pop(0)
        name, equals, value = word.partition("=")
        if word == "--":
            break
        if name in known:
            if not equals and rest:
                value = rest.pop(0)
            values.append((known[name], value))
        elif word not in flags:
            fix = "Leave it out, or install with --prepare CMD and name the installed command."
            raise UsageError(f"unsupported option {word}: it may change what is installed", fix=fix)
    if not rest:
        raise UsageError("the package is missing", fix="Write npx PACKAGE or uvx PACKAGE.")
    return values, rest


def _refuse_path(spec: str) -> None:
    if spec.startswith((".", "/", "~")):
        fix = "Write the server's own command after --; --prepare CMD installs what it needs."
        raise UsageError("a folder cannot be fetched as a package", where=spec, fix=fix)
