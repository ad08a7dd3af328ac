"""The configuration files of each client on Linux, macOS and Windows."""

import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Literal

from sayso.clients.document import Document, as_object
from sayso.clients.kinds import CLIENTS, Client

Scope = Literal["user", "local", "project", "profile", "system", "file"]
"""The scope of a file: a user, a user in one project (Claude Code), all who work on a project,
a profile of VS Code, all users of the machine; `file` if it was named by its path."""

_CODES: Final = ("Code", "Code - Insiders", "VSCodium")


@dataclass(frozen=True, slots=True)
class Machine:
    """The operating system, folders and environment, which determine where files are."""

    system: str
    home: Path
    cwd: Path
    environ: Mapping[str, str]

    @classmethod
    def here(cls) -> "Machine":
        """Return this machine, with the current user and folder."""
        return cls(sys.platform, Path.home(), Path.cwd(), os.environ)

    @property
    def applications(self) -> Path:
        """The folder of desktop programs' data for a user."""
        if self.system == "darwin":
            return self.home / "Library" / "Application Support"
        if self.system == "win32":
            return self.folder("APPDATA", self.home / "AppData" / "Roaming")
        return self.folder("XDG_CONFIG_HOME", self.home / ".config")

    def folder(self, variable: str, default: Path) -> Path:
        """Return the path in an environment variable, or `default`."""
        return Path(self.environ.get(variable) or default)


@dataclass(frozen=True, slots=True)
class Place:
    """One object of servers in a file. Its relative paths are relative to `workspace`."""

    client: Client
    scope: Scope
    path: Path
    steps: tuple[str, ...]
    workspace: Path

    @property
    def has_workspace(self) -> bool:
        """True if the servers belong to one folder, so that workspace variables have one value."""
        return self.scope in ("project", "local")


def places(machine: Machine, client: Client) -> tuple[Place, ...]:
    """Return all places where `client` may have servers; the files may be missing."""
    # In the home folder, the project's file may be the user's file: keep the first place.
    found: dict[Path, Place] = {}
    for scope, path in _PLACES[client.name](machine):
        found.setdefault(path, _place(client, scope, path, machine))
    return tuple(found.values())


def places_within(place: Place, servers: Document) -> tuple[Place, ...]:
    """Return `place` and the projects with servers in the same file (Claude Code)."""
    projects = as_object(as_object(servers.file.value).get("projects"))
    if place.client.name != "claude-code":
        return (place,)
    inside = (("projects", key, place.client.key) for key in projects)
    return (
        place,
        *(
            replace(place, scope="local", steps=steps, workspace=Path(steps[1]))
            for steps in inside
            if servers.servers(steps)
        ),
    )


def named(machine: Machine, client: Client, path: Path) -> Place:
    """Return the place of a file named by its path, in the format of `client`."""
    return _place(client, "file", path.absolute(), machine)


def _place(client: Client, scope: Scope, path: Path, machine: Machine) -> Place:
    workspace = path.parent
    if scope == "project":
        workspace = machine.cwd
    return Place(client, scope, path, (client.key,), workspace)


def _claude_code(machine: Machine) -> Iterator[tuple[Scope, Path]]:
    yield "user", machine.folder("CLAUDE_CONFIG_DIR", machine.home) / ".claude.json"
    yield "project", machine.cwd / ".mcp.json"
    kept = {
        "darwin": "/Library/Application Support/ClaudeCode",
        "win32": "C:/Program Files/ClaudeCode",
    }
    yield "system", Path(kept.get(machine.system, "/etc/claude-code")) / "managed-mcp.json"


def _claude_desktop(machine: Machine) -> Iterator[tuple[Scope, Path]]:
    # The Microsoft Store edition uses another folder instead of the usual one.
    local = machine.environ.get("LOCALAPPDATA")
    if machine.system == "win32" and local:
        packages = sorted(Path(local, "Packages").glob("Claude_*"))
        if packages:
            folder = packages[0] / "LocalCache" / "Roaming" / "Claude"
            yield "user", folder / "claude_desktop_config.json"
            return
    yield "user", machine.applications / "Claude" / "claude_desktop_config.json"


def _cursor(machine: Machine) -> Iterator[tuple[Scope, Path]]:
    yield "user", machine.home / ".cursor" / "mcp.json"
    yield "project", machine.cwd / ".cursor" / "mcp.json"


def _vscode(machine: Machine) -> Iterator[tuple[Scope, Path]]:
    users = [machine.applications / code / "User" for code in _CODES]
    yield "user", users[0] / "mcp.json"
    yield "project", machine.cwd / ".vscode" / "mcp.json"
    # Other editions count as profiles, which are used only if the user names them.
    for user in users[1:]:
        yield "profile", user / "mcp.json"
    for user in users:
        for profile in sorted(user.glob("profiles/*/mcp.json")):
            yield "profile", profile


def _gemini(machine: Machine) -> Iterator[tuple[Scope, Path]]:
    home = machine.folder("GEMINI_CLI_HOME", machine.home)
    yield "user", home / ".gemini" / "settings.json"
    yield "project", machine.cwd / ".gemini" / "settings.json"
    folder = Path("/etc/gemini-cli")
    if machine.system == "darwin":
        folder = Path("/Library/Application Support/GeminiCli")
    elif machine.system == "win32":
        folder = machine.folder("PROGRAMDATA", Path("C:/ProgramData")) / "gemini-cli"
    yield "system", machine.folder("GEMINI_CLI_SYSTEM_SETTINGS_PATH", folder / "settings.json")


_PLACES: Final = {
    "claude-code": _claude_code,
    "claude-desktop": _claude_desktop,
    "cursor": _cursor,
    "vscode": _vscode,
    "gemini": _gemini,
}
assert _PLACES.keys() == CLIENTS.keys()  # noqa: S101 - two tables of this package
