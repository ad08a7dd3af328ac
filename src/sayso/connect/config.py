"""Clients' configurations: the files that list the servers of a desktop client or an editor.

Claude Desktop, Claude Code, Cursor, Gemini CLI and most others use the key `mcpServers`. VS Code
uses `servers`. Other keys of the file belong to the client and are ignored.
"""

import re
from collections.abc import Mapping
from typing import Any, Final, cast

from sayso.connect.address import fault_of_url
from sayso.connect.authentry import read_auth, read_contract, read_shared
from sayso.connect.entry import Entry, nearest
from sayso.connect.kinds import CommandTarget, UrlTarget
from sayso.connect.naming import plain_name
from sayso.connect.variables import Scope
from sayso.errors import ConfigError, TargetError
from sayso.settings import JsonFile, fault_of_file, locate, read_text, type_name

SERVER_KEYS: Final = ("mcpServers", "servers")

_EXAMPLE: Final = (
    'An entry looks like {"mcpServers": {"git": {"command": "uvx", "args": ["mcp-server-git"]}}}.'
)
_TRANSPORTS: Final = {
    "stdio": "stdio",
    "local": "stdio",
    "http": "http",
    "streamablehttp": "http",
    "sse": "sse",
}
_TYPE_KEYS: Final = ("type", "transport", "transportType")
_URL_KEYS: Final = ("httpUrl", "serverUrl", "url")
_VARIABLE_NAME: Final = re.compile(r"[^=\0]+")
_HEADER_NAME: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")  # a token of RFC 9110, 5.6.2
_STARTED_ONLY: Final = "is only for servers with a “command”"
_CONTROL: Final = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
_ENV_LINE: Final = re.compile(
    r"""
    (?:export\s+)?
    (?P<name>[A-Za-z_][A-Za-z0-9_.]*) \s*=\s*
    (?: "(?P<double>(?:[^"\\]|\\.)*)" | '(?P<single>[^']*)' | (?P<bare>[^"'].*?)?? )
    \s* (?:(?<=\s)\#.*)?
    """,
    re.VERBOSE,
)
_ESCAPE: Final = re.compile(r"\\(.)")
_ESCAPES: Final = {"n": "\n", "r": "\r", "t": "\t"}


def is_config(value: object) -> bool:
    """Return whether a file's JSON is a client's configuration."""
    return isinstance(value, dict) and any(key in value for key in SERVER_KEYS)


def read_config(file: JsonFile) -> tuple[CommandTarget | UrlTarget, ...]:
    """Return the enabled servers of a configuration in the order of the file.

    Raises `ConfigError` with the place of the first mistake, or if no server is enabled.
    """
    key, servers = _servers(file)
    scope = Scope.of(file.path)
    entries = [Entry.at(file, (key, name), scope) for name in servers]
    targets = {entry.steps[-1]: _target(entry) for entry in entries if not entry.is_disabled}
    if not targets:
        what = f"each of the {len(entries)} servers is disabled"
        raise ConfigError(what, where=file.where(key), fix="Enable one of them.")
    _refuse_same_names(file, key, targets)
    return tuple(targets.values())


def read_entry(file: JsonFile, name: str) -> CommandTarget | UrlTarget:
    """Return one server of a configuration; mistakes in other entries do not matter."""
    key, servers = _servers(file)
    if name not in servers:
        fix = f"Its servers are {', '.join(servers)}."
        if near := nearest(name, tuple(servers)):
            fix = f"Did you mean “{near}”? {fix}"
        raise TargetError(f"the file has no server “{name}”", where=file.path, fix=fix)
    entry = Entry.at(file, (key, name), Scope.of(file.path))
    if entry.is_disabled:
        raise entry.fault("the server is disabled", fix="Enable it in the file.", of_key=True)
    return _target(entry)


def lines_of_servers(file: JsonFile) -> dict[str, int]:
    """Return the line of each server in a configuration, by its target's name."""
    key, servers = _servers(file)
    return {plain_name(name): locate(file.text, (key, name), of_key=True).line for name in servers}


def read_target(file: JsonFile, steps: tuple[str, ...], scope: Scope) -> CommandTarget | UrlTarget:
    """Return the server at `steps`, disabled or not, with variables from `scope`."""
    return _target(Entry.at(file, steps, scope))


def _servers(file: JsonFile) -> tuple[str, Mapping[str, Any]]:
    value: object = file.value
    if not isinstance(value, dict):
        what = f"a configuration must be an object, not {type_name(value)}"
        raise ConfigError(what, where=file.where(), fix=_EXAMPLE)
    found = cast("dict[str, Any]", value)
    key = next((key for key in SERVER_KEYS if key in found), None)
    if key is None:
        raise _without_servers(file, tuple(found))
    servers = found[key]
    if not isinstance(servers, dict):
        what = f"“{key}” must be an object, not {type_name(servers)}"
        raise ConfigError(what, where=file.where(key), fix=_EXAMPLE)
    if not servers:
        raise ConfigError("the file names no servers", where=file.where(key), fix=_EXAMPLE)
    return key, cast("dict[str, Any]", servers)


def _without_servers(file: JsonFile, keys: tuple[str, ...]) -> ConfigError:
    if not keys:
        return ConfigError("the file names no servers", where=file.where(), fix=_EXAMPLE)
    for key in keys:
        if near := nearest(key, SERVER_KEYS):
            place = file.where(key, of_key=True)
            return ConfigError(f"unknown key “{key}”", where=place, fix=f"Did you mean “{near}”?")
    what = "the file is neither a client's configuration nor a saved tools/list"
    return ConfigError(what, where=file.where(), fix=f"It has no “mcpServers”. {_EXAMPLE}")


def _refuse_same_names(
    file: JsonFile, key: str, targets: Mapping[str, CommandTarget | UrlTarget]
) -> None:
    seen: dict[str, str] = {}
    for written, target in targets.items():
        before = seen.setdefault(target.name, written)
        if before != written:
            what = f"“{before}” and “{written}” would both be called {target.name}"
            place = file.where(key, written, of_key=True)
            raise ConfigError(what, where=place, fix="Rename one of them.")


def _target(entry: Entry) -> CommandTarget | UrlTarget:
    address = next((key for key in _URL_KEYS if entry.fields.get(key) is not None), None)
    command = entry.text("command")
    if command is not None and address is not None:
        what = f"has both “command” and “{address}”"
        raise entry.fault(what, fix="Keep one of them.")
    transport = _transport(entry)
    if transport == "http" and address is None:
        raise entry.fault("is an HTTP server without “url”", fix='Add "url": "https://…".')
    if transport == "stdio" and not command:
        raise entry.fault("is a stdio server without “command”", fix='Add "command": "…".')
    if address is not None:
        return _url_target(entry, address)
    if command:
        return _command_target(entry, command)
    fix = 'Add "command" for a server that sayso starts, or "url" for a running server.'
    raise entry.fault("has neither “command” nor “url”", fix=fix)


def _transport(entry: Entry) -> str | None:
    key = next((key for key in _TYPE_KEYS if entry.fields.get(key) is not None), "type")
    word = entry.text(key)
    if word is None:
        return None
    transport = _TRANSPORTS.get(re.sub(r"[-_]", "", word.lower()))
    if transport == "sse":
        fix = (
            "Most servers also offer streamable HTTP, often at /mcp: "
            'write that URL and "type": "http".'
        )
        raise entry.fault("the old HTTP+SSE transport is not supported", key, fix=fix)
    if transport is None:
        raise entry.fault(f"unknown transport “{word}”", key, fix="Write stdio or http.")
    return transport


def _command_target(entry: Entry, command: str) -> CommandTarget:
    if read_auth(entry) is not None:
        fix = "A server that sayso starts gets its secrets under “env”."
        raise entry.fault("is only for servers with a “url”", "sayso", "auth", fix=fix, of_key=True)
    env = {**_env_file(entry), **entry.pairs("env", names=_VARIABLE_NAME)}
    return CommandTarget(
        plain_name(entry.steps[-1]),
        command,
        entry.texts("args"),
        env,
        entry.folder("cwd"),
        is_shared=read_shared(entry),
        contract=read_contract(entry),
    )


def _env_file(entry: Entry) -> dict[str, str]:
    path = entry.folder("envFile")
    if path is None:
        return {}
    if what := fault_of_file(path):
        raise entry.fault(f"{what}: {path}", "envFile", fix="Correct the path.")
    return read_env_file(path)


def read_env_file(path: str) -> dict[str, str]:
    r"""Return the variables in an `envFile` (VS Code); the last value of a name counts.

    Values may be bare, in single quotes (unchanged) or in double quotes (with the escapes `\n`,
    `\t` and `\"`). Variables in values are not expanded. Raises `ConfigError` with the number of
    an invalid line, but not its text.
    """
    found: dict[str, str] = {}
    for number, raw in enumerate(read_text(path).split("\n"), 1):
        line = raw.strip()
        if not line or line.startswith("#"):
            continue
        match = _ENV_LINE.fullmatch(line)
        if match is None:
            fix = "Write NAME=value, with quotes around a value that begins or ends with a blank."
            raise ConfigError("this line sets no variable", where=f"{path}:{number}", fix=fix)
        found[match["name"]] = _env_value(match)
    return found


def _env_value(match: re.Match[str]) -> str:
    if (double := match["double"]) is not None:
        return _ESCAPE.sub(lambda escape: _ESCAPES.get(escape[1], escape[1]), double)
    return match["single"] or match["bare"] or ""


def _url_target(entry: Entry, key: str) -> UrlTarget:
    url = entry.text(key) or ""
    if fault := fault_of_url(url):
        raise entry.fault(fault[0], key, fix=fault[1])
    headers = entry.pairs("headers", names=_HEADER_NAME)
    for name, value in headers.items():
        if _CONTROL.search(value):
            fix = "Does the variable end in a line break?"
            raise entry.fault("contains a control character", "headers", name, fix=fix)
    auth = read_auth(entry)
    if auth is not None and any(name.lower() == "authorization" for name in headers):
        fix = "Keep one of them."
        raise entry.fault("has both “sayso.auth” and the header “Authorization”", "sayso", fix=fix)
    if read_contract(entry) is not None:
        fix = "Remove it: sayso cannot observe such a server."
        raise entry.fault(_STARTED_ONLY, "sayso", "contract", fix=fix, of_key=True)
    is_shared = read_shared(entry)
    if is_shared and auth is not None and auth.is_exchange:
        what = "not possible with token_exchange, because each caller has its own token"
        raise entry.fault(what, "sayso", "shared", fix="Remove “shared”.")
    return UrlTarget(plain_name(entry.steps[-1]), url, headers, auth, is_shared=is_shared)
