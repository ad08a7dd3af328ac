"""Which of a client's servers sayso is put in front of, and why the others stay where they are.

A server moves only where nothing that the client held to is lost by it: neither that it is switched
off, nor a limit on its tools, nor a login of the client's own.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import Any, Final, cast

from sayso.clients.document import Document, as_list, as_object
from sayso.clients.kinds import ENTRY
from sayso.clients.places import Place
from sayso.clients.variables import Passed, not_own, spelt, variables_in
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
    r"\$\{(?:(?:env:)?[A-Za-z_]\w*(?::-[^{}]*)?|/)\}|\$[A-Za-z_]\w*"  # what sayso reads as well
)
_LOOPBACK: Final = re.compile(r"https?://(?:localhost|127\.0\.0\.1|\[::1\])[:/]", re.IGNORECASE)
_BARE: Final = re.compile(r"\$([A-Za-z_]\w*)\Z")
_NAMED: Final = re.compile(r"\$\{(?:env:)?([A-Za-z_]\w*)")


@dataclass(frozen=True, slots=True)
class Wish:
    """What a person asked for: some servers only, or all but some; and by which way.

    With `is_started` the client starts sayso, else it reaches a gateway that somebody has started.
    """

    only: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    is_started: bool = True


@dataclass(frozen=True, slots=True)
class Choice:
    """`moved` as sayso will read them, `stays` with a reason for each, `env` for sayso's entry."""

    moved: Mapping[str, Mapping[str, Any]] = field(repr=False)
    stays: Mapping[str, str]
    env: Mapping[str, str]


def choose(document: Document, place: Place, wish: Wish) -> Choice:
    """Sort the servers at `place`.

    Raises `UsageError` for a wish that names none of them, `ConfigError` where sayso's name is
    taken, or two would bear one name behind sayso.
    """
    servers = document.servers(place.steps)
    _check_names(servers, wish, place)
    if ENTRY in servers:
        what = f"an entry “{ENTRY}” stands there that sayso install has not written"
        where = document.file.where(*place.steps, ENTRY, of_key=True)
        raise ConfigError(what, where=where, fix="Take it out or rename it, and do this again.")
    off = _switched_off(document.file.value, place)
    passed = Passed(place.client.variables)
    moved: dict[str, Mapping[str, Any]] = {}
    stays: dict[str, str] = {}
    for name, entry in servers.items():
        reason = (
            _unwished(name, wish)
            or off.get(name)
            or _unfit(entry)
            or _unlike(entry, place)
            or _unreachable(entry, place, wish)
        )
        if reason is None:
            own = _as_moved(entry, place, wish, passed)
            reason = _unread(name, own, place, passed) or _may_want_login(entry)
            if reason is None:
                moved[name] = own
        if reason is not None:
            stays[name] = reason
    _refuse_same_names(moved, document, place)
    used = {variable for entry in moved.values() for variable in variables_in(entry, _NAMED)}
    return Choice(moved, stays, {key: value for key, value in passed.env.items() if key in used})


def is_gateway(entry: Any) -> bool:
    """Whether an entry starts sayso's gateway, even one that sayso did not write."""
    fields = as_object(entry)
    words = [str(word) for word in as_list(fields.get("args"))]
    program = PurePath(str(fields.get("command", "")).replace("\\", "/")).stem
    return "gateway" in words and (program == "sayso" or "sayso" in words)


def _check_names(servers: Mapping[str, Any], wish: Wish, place: Place) -> None:
    for option, names in (("--only", wish.only), ("--except", wish.left_out)):
        for name in names:
            if name not in servers:
                fix = f"It names {', '.join(servers)}."
                if near := nearest(name, tuple(servers)):
                    fix = f"Did you mean “{near}”?"
                where = f"{option}, {place.path}"
                raise UsageError(f"there is no server “{name}”", where=where, fix=fix)


def _unwished(name: str, wish: Wish) -> str | None:
    if name in wish.left_out or (wish.only and name not in wish.only):
        return "as you asked"
    return None


def _switched_off(value: Any, place: Place) -> Mapping[str, str]:
    """Return the servers that another part of the same file switches off, with the reason."""
    if place.client.name == "gemini":
        return _off_in_gemini(value, place)
    if place.client.name != "claude-code":
        return {}
    if place.scope == "project":
        return _refused_in_claude(place.workspace)
    return {
        name: f"it is switched off in {key}"
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
            what = "Gemini CLI starts only the servers under “mcp.allowed”"
            fix = f'Add "{ENTRY}" there, and do this again.'
            raise ConfigError(what, where=str(place.path), fix=fix)
        off |= {*value.get(place.client.key, {})} - {*_texts(cast("object", allowed))}
    return dict.fromkeys(off, "it is switched off under “mcp”")


def _refused_in_claude(workspace: Path) -> Mapping[str, str]:
    """Return the servers of `.mcp.json` that the user of Claude Code has refused, with the file."""
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
        name: f"its user has refused it in {file}"
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
            return f"the client logs in to it by itself (“{key}”)"
    return None


def _unlike(entry: Mapping[str, Any], place: Place) -> str | None:
    """Return why sayso would not run or reach this entry as the client does."""
    command = entry.get("command")
    if isinstance(command, str) and " " in command.strip() and not Path(command).is_file():
        return "its “command” holds spaces, and clients split that differently: use “args”"
    if place.client.name == "gemini" and entry.get("url") and not entry.get("httpUrl"):
        return "Gemini CLI speaks SSE to a “url”, which sayso does not (“httpUrl” can move)"
    return None


def _may_want_login(entry: Mapping[str, Any]) -> str | None:
    """Return why a remote server stays: without a header the client may have to log in to it."""
    urls = (entry.get(key) for key in ("url", "httpUrl", "serverUrl"))
    url = next((value for value in urls if isinstance(value, str)), None)
    if url is None or entry.get("headers") or _LOOPBACK.match(url):
        return None
    return "it may want a login that only the client can do; it stays for now"


def _unreachable(entry: Mapping[str, Any], place: Place, wish: Wish) -> str | None:
    """Return why a gateway that a person starts lacks values for this entry."""
    if wish.is_started:
        return None
    for variable in variables_in(entry, place.client.variables):
        if _WORKSPACE.fullmatch(variable) or not _OF_SAYSO.fullmatch(variable):
            return f"only the client knows the value of {variable}"
    return None


def _as_moved(entry: Mapping[str, Any], place: Place, wish: Wish, passed: Passed) -> dict[str, Any]:
    """Return the entry for sayso's copy: variables passed on, paths from where they were."""
    if wish.is_started:
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


def _unread(name: str, entry: Mapping[str, Any], place: Place, passed: Passed) -> str | None:
    """Return why sayso could not read the entry, judged with stand-ins for its variables."""
    for variable in variables_in(entry, re.compile(r"\$\{SAYSO_VAR_\w+\}")):
        written = passed.env[variable[2:-1]]
        if _WORKSPACE.fullmatch(written) and not place.has_workspace:
            return f"only the client knows the value of {written}"
    if odd := not_own(spelt(entry, lambda text: place.client.variables.sub("", text))):
        return f"{place.client.title} takes “{odd}” as it stands, and sayso would not"
    text = json.dumps({"mcpServers": {name: entry}})
    known = {"${workspaceFolder}": str(place.workspace), "${userHome}": str(Path.home())}
    faults: list[str | None] = []
    # A value that is unknown may be part of a URL or a port, or a whole URL.
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
    seen: dict[str, str] = {}
    for name in moved:
        before = seen.setdefault(plain_name(name), name)
        if before != name:
            what = f"“{before}” and “{name}” would both be called {plain_name(name)} behind sayso"
            where = document.file.where(*place.steps, name, of_key=True)
            raise ConfigError(what, where=where, fix="Rename one, or leave it out with --except.")


def sorted_reasons(stays: Mapping[str, str]) -> Sequence[tuple[str, str]]:
    """Return each reason once, with the servers that have it, in the order of the file."""
    by_reason: dict[str, list[str]] = {}
    for name, reason in stays.items():
        by_reason.setdefault(reason, []).append(name)
    return [(", ".join(names), reason) for reason, names in by_reason.items()]
