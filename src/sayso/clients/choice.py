"""The choice of servers to move behind sayso, with a reason for each that stays.

A server stays if moving it would lose a setting: that the server is disabled, a limit on its tools,
or the client's own login.
"""

import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import Any, Final, cast

from sayso.clients.document import Document, as_list, as_object
from sayso.clients.kinds import ENTRY
from sayso.clients.places import Place
from sayso.clients.variables import PassedVariables, not_own, spelt, variables_in
from sayso.connect import Scope, nearest, plain_name, read_target
from sayso.errors import ConfigError, UsageError
from sayso.settings import parse_json, read_text

_LIMITS: Final = (
    "allowedTools",
    "disabledTools",
    "excludeTools",
    "includeTools",
    "sandbox",
    "sandboxEnabled",
    "tools",
)
_LOGINS: Final = (
    "auth",
    "authProviderType",
    "oauth",
    "oauthClientId",
    "oauthPublicClient",
    "oauthScopes",
    "targetAudience",
    "targetServiceAccount",
)
_WORKSPACE: Final = re.compile(r"\$\{workspaceFolder\w*\}")
_OF_SAYSO: Final = re.compile(
    r"\$\{(?:(?:env:)?[A-Za-z_]\w*(?::-[^{}]*)?|/)\}|\$[A-Za-z_]\w*"  # sayso supports these
)
_LOOPBACK: Final = re.compile(r"https?://(?:localhost|127\.0\.0\.1|\[::1\])[:/]", re.IGNORECASE)
_BARE: Final = re.compile(r"\$([A-Za-z_]\w*)\Z")
_NAMED: Final = re.compile(r"\$\{(?:env:)?([A-Za-z_]\w*)")


@dataclass(frozen=True, slots=True)
class Selection:
    """The servers that a person chose: those in `only` (empty for all), without `left_out`.

    With `is_started`, the client starts sayso. Otherwise it connects to a running gateway.
    """

    only: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    is_started: bool = True


@dataclass(frozen=True, slots=True)
class Choice:
    """The entries that move, the other entries' reasons to stay, and the `env` of sayso's entry."""

    moved: Mapping[str, Mapping[str, Any]] = field(repr=False)
    stays: Mapping[str, str]
    env: Mapping[str, str]


def choose(document: Document, place: Place, selection: Selection) -> Choice:
    """Choose from the servers at `place`.

    Raises `UsageError` for unknown names, and `ConfigError` if sayso's name is taken, or two
    servers would have the same name behind sayso.
    """
    servers = document.servers(place.steps)
    _check_names(servers, selection, place)
    if ENTRY in servers:
        what = f"the entry “{ENTRY}” was not written by sayso install"
        where = document.file.where(*place.steps, ENTRY, of_key=True)
        raise ConfigError(what, where=where, fix="Remove or rename it, and try again.")
    off = _disabled(document.file.value, place)
    passed = PassedVariables(place.client.variables)
    moved: dict[str, Mapping[str, Any]] = {}
    stays: dict[str, str] = {}
    for name, entry in servers.items():
        reason = (
            _excluded(name, selection)
            or off.get(name)
            or _unfit(entry)
            or _unlike(entry, place)
            or _unreachable(entry, place, selection)
        )
        if reason is None:
            own = _as_moved(entry, place, selection, passed)
            reason = _unread(name, own, place, passed) or _may_want_login(entry)
            if reason is None:
                moved[name] = own
        if reason is not None:
            stays[name] = reason
    _refuse_same_names(moved, document, place)
    used = {variable for entry in moved.values() for variable in variables_in(entry, _NAMED)}
    return Choice(moved, stays, {key: value for key, value in passed.env.items() if key in used})


def is_gateway(entry: Any) -> bool:
    """Return whether an entry starts sayso's gateway, even if a person wrote it."""
    fields = as_object(entry)
    words = [str(word) for word in as_list(fields.get("args"))]
    program = PurePath(str(fields.get("command", "")).replace("\\", "/")).stem
    return "gateway" in words and (program == "sayso" or "sayso" in words)


def _check_names(servers: Mapping[str, Any], selection: Selection, place: Place) -> None:
    for option, names in (("--only", selection.only), ("--except", selection.left_out)):
        for name in names:
            if name not in servers:
                fix = f"Its servers: {', '.join(servers)}."
                if near := nearest(name, tuple(servers)):
                    fix = f"Did you mean “{near}”?"
                where = f"{option}, {place.path}"
                raise UsageError(f"no server “{name}”", where=where, fix=fix)


def _excluded(name: str, selection: Selection) -> str | None:
    if name in selection.left_out or (selection.only and name not in selection.only):
        return "you excluded it"
    return None


def _disabled(value: Any, place: Place) -> Mapping[str, str]:
    """Return the servers that are disabled outside their own entries, with the reason."""
    if place.client.name == "gemini":
        return _off_in_gemini(value, place)
    if place.client.name != "claude-code":
        return {}
    if place.scope == "project":
        return _rejected_in_claude(place.workspace)
    return {
        name: f"it is disabled in {key}"
        for key, project in as_object(value.get("projects")).items()
        if place.scope != "local" or key == place.steps[1]
        for key_of in ("disabledMcpServers", "disabledMcpjsonServers")
        for name in _texts(as_object(project).get(key_of))
    }


def _off_in_gemini(value: Any, place: Place) -> Mapping[str, str]:
    rules = as_object(value.get("mcp"))
    off = set(_texts(rules.get("excluded")))
    if isinstance(allowed := rules.get("allowed"), list):
        if ENTRY not in allowed:
            what = f"“mcp.allowed” must contain “{ENTRY}”, or Gemini CLI does not start it"
            fix = f'Add "{ENTRY}" there, and try again.'
            raise ConfigError(what, where=str(place.path), fix=fix)
        off |= {*value.get(place.client.key, {})} - {*_texts(cast("object", allowed))}
    return dict.fromkeys(off, "it is disabled under “mcp”")


def _rejected_in_claude(workspace: Path) -> Mapping[str, str]:
    """Return the servers of `.mcp.json` that the user rejected in Claude Code, with the file."""
    files = [
        Path.home() / ".claude" / "settings.json",
        workspace / ".claude" / "settings.json",
        workspace / ".claude" / "settings.local.json",
    ]
    found = {file: _json_of(file) for file in files}
    state = Path.home() / ".claude.json"
    projects = as_object(_json_of(state).get("projects"))
    found[state] = as_object(projects.get(str(workspace)))
    return {
        name: f"you rejected it in {file}"
        for file, settings in found.items()
        for name in _texts(settings.get("disabledMcpjsonServers"))
    }


def _json_of(path: Path) -> Mapping[str, Any]:
    try:
        return as_object(parse_json(str(path), read_text(str(path))).value)
    except ConfigError:
        return {}


def _texts(value: Any) -> list[str]:
    return [item for item in as_list(value) if isinstance(item, str)]


def _unfit(entry: Any) -> str | None:
    if not isinstance(entry, dict):
        return "it is not an object"
    fields = cast("dict[str, Any]", entry)
    if is_gateway(fields):
        return "it is sayso's gateway itself"
    if fields.get("disabled") is True or fields.get("enabled") is False:
        return "it is disabled"
    for key in _LIMITS:
        if fields.get(key) and fields[key] != ["*"]:
            return f"the client limits it with “{key}”, which would be lost"
    for key in _LOGINS:
        if fields.get(key):
            return f"the client logs in to it (“{key}”)"
    return None


def _unlike(entry: Mapping[str, Any], place: Place) -> str | None:
    """Return why sayso would not run or reach this entry as the client does."""
    command = entry.get("command")
    # `Path.is_file` raises for a name that is too long.
    is_split = isinstance(command, str) and " " in command.strip()
    if is_split and not os.path.isfile(str(command)):  # noqa: PTH113 - see above
        return "its “command” contains spaces, which clients split differently (use “args”)"
    if place.client.name == "gemini" and entry.get("url") and not entry.get("httpUrl"):
        return "Gemini CLI uses SSE for “url”, which sayso does not support (“httpUrl” can move)"
    return None


def _may_want_login(entry: Mapping[str, Any]) -> str | None:
    """Return why a remote server stays: without headers, it may require the client's login."""
    urls = (entry.get(key) for key in ("url", "httpUrl", "serverUrl"))
    url = next((value for value in urls if isinstance(value, str)), None)
    if url is None or entry.get("headers") or _LOOPBACK.match(url):
        return None
    return "it may require a login that only the client can do"


def _unreachable(entry: Mapping[str, Any], place: Place, selection: Selection) -> str | None:
    """Return why a gateway cannot read this entry if it is not started by the client."""
    if selection.is_started:
        return None
    for variable in variables_in(entry, place.client.variables):
        if _WORKSPACE.fullmatch(variable) or not _OF_SAYSO.fullmatch(variable):
            return f"only the client knows the value of {variable}"
    return None


def _as_moved(
    entry: Mapping[str, Any], place: Place, selection: Selection, passed: PassedVariables
) -> dict[str, Any]:
    """Return the entry for sayso's copy, with absolute paths and with variables that sayso gets."""
    if selection.is_started:
        moved = passed.moved(entry)
    else:
        moved = spelt(entry, lambda text: place.client.variables.sub(_in_braces, text))
    for key in ("cwd", "envFile"):
        path = moved.get(key)
        if isinstance(path, str) and not path.startswith("$"):
            moved[key] = str(place.workspace / path)
    return moved


def _in_braces(match: re.Match[str]) -> str:
    return _BARE.sub(r"${\1}", match[0])


def _unread(
    name: str, entry: Mapping[str, Any], place: Place, passed: PassedVariables
) -> str | None:
    """Return why sayso cannot read the entry; the test uses placeholders for variables."""
    for variable in variables_in(entry, re.compile(r"\$\{SAYSO_VAR_\w+\}")):
        written = passed.env[variable[2:-1]]
        if _WORKSPACE.fullmatch(written) and not place.has_workspace:
            return f"only the client knows the value of {written}"
    if odd := not_own(spelt(entry, lambda text: place.client.variables.sub("", text))):
        return f"“{odd}” is literal text in {place.client.title}, and a variable in sayso"
    text = json.dumps({"mcpServers": {name: entry}})
    known = {"${workspaceFolder}": str(place.workspace), "${userHome}": str(Path.home())}
    faults: list[str | None] = []
    # The value of a variable may be a part of a URL, a port, or a whole URL: one test must pass.
    for unknown in ("1", "http://1"):
        environ = {
            variable: known.get(passed.env.get(variable, ""), unknown)
            for variable in variables_in(entry, _NAMED)
        }
        faults.append(_fault(text, name, Scope(environ, place.workspace, Path.home())))
    return None if None in faults else faults[0]


def _fault(text: str, name: str, scope: Scope) -> str | None:
    try:
        read_target(parse_json("", text), ("mcpServers", name), scope)
    except ConfigError as error:
        return error.what.removeprefix(f"{name}: ").removeprefix(f"{name}.")
    return None


def _refuse_same_names(moved: Mapping[str, Any], document: Document, place: Place) -> None:
    names: dict[str, str] = {}
    for name in moved:
        other = names.setdefault(plain_name(name), name)
        if other != name:
            what = f"“{other}” and “{name}” would both be named {plain_name(name)} behind sayso"
            where = document.file.where(*place.steps, name, of_key=True)
            raise ConfigError(what, where=where, fix="Rename one, or exclude it with --except.")


def sorted_reasons(stays: Mapping[str, str]) -> Sequence[tuple[str, str]]:
    """Return each reason once, with its servers, in the order of the file."""
    by_reason: dict[str, list[str]] = {}
    for name, reason in stays.items():
        by_reason.setdefault(reason, []).append(name)
    return [(", ".join(names), reason) for reason, names in by_reason.items()]
