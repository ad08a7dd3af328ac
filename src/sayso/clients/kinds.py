"""The supported clients: the form of their configurations, and messages for the user."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from sayso.errors import UsageError

ENTRY: Final = "sayso"
"""The name of sayso's entry in a client's configuration."""

_NO_VARIABLES: Final = re.compile(r"(?!)")


@dataclass(frozen=True, slots=True)
class Client:
    """One client. Its servers are under `key`; `variables` matches the variables that it expands.

    The user reads `caution` before the change. After it, `after` explains how to make the client
    read its file again, and `first` prepares for the client's question about a new server.
    """

    name: str
    title: str
    key: str
    variables: re.Pattern[str]
    url_key: str | None
    after: str
    caution: str | None = None
    first: str | None = None
    has_type: bool = False

    def started(self, words: tuple[str, ...], env: Mapping[str, str]) -> dict[str, Any]:
        """Return the entry of a server that this client starts."""
        entry: dict[str, Any] = {"command": words[0], "args": list(words[1:])}
        if env:
            entry["env"] = dict(env)
        return self._typed("stdio", entry)

    def reached(self, url: str) -> dict[str, Any]:
        """Return the entry of a server at `url`. Raises `UsageError` if the client has no URLs."""
        if self.url_key is None:
            what = f"{self.title} does not support servers with a URL"
            raise UsageError(what, where="--url", fix="Remove --url.")
        return self._typed("http", {self.url_key: url})

    def _typed(self, kind: str, entry: dict[str, Any]) -> dict[str, Any]:
        return {"type": kind, **entry} if self.has_type else entry


_CLIENTS: Final = (
    Client(
        "claude-code",
        "Claude Code",
        "mcpServers",
        re.compile(r"\$\{[A-Za-z_]\w*(?::-[^{}]*)?\}"),
        "url",
        "Restart Claude Code.",
        "Close Claude Code first: it rewrites this file while it runs. Rename all its permission "
        "rules for mcp__SERVER__TOOL, including deny rules, to mcp__sayso__SERVER__TOOL.",
        "It asks before it starts a server from .mcp.json.",
        has_type=True,
    ),
    Client(
        "claude-desktop",
        "Claude Desktop",
        "mcpServers",
        _NO_VARIABLES,
        None,
        "Quit Claude Desktop completely, and open it again.",
    ),
    Client(
        "cursor",
        "Cursor",
        "mcpServers",
        re.compile(r"\$\{(?:env:[^{}]+|userHome|workspaceFolder(?:Basename)?|pathSeparator|/)\}"),
        "url",
        "Cursor reloads the file; if it does not, restart it.",
        "Servers and tools that are disabled in Cursor's settings are enabled behind sayso.",
    ),
    Client(
        "vscode",
        "VS Code",
        "servers",
        re.compile(r"\$\{[^{}]+\}"),
        "url",
        "VS Code reloads the file; start servers with “MCP: List Servers”.",
        "Tools that are disabled in VS Code's tool picker are enabled behind sayso.",
        "It asks whether to trust sayso.",
        has_type=True,
    ),
    Client(
        "gemini",
        "Gemini CLI",
        "mcpServers",
        re.compile(r"\$(?:\w+|\{[^{}]+\})"),
        "httpUrl",
        "Restart Gemini CLI.",
        "Servers that are disabled with “gemini mcp disable” are enabled behind sayso.",
    ),
)

CLIENTS: Final[Mapping[str, Client]] = {client.name: client for client in _CLIENTS}


def client_of(name: str) -> Client:
    """Return the client of this name. Raises `UsageError`."""
    if name not in CLIENTS:
        raise UsageError(f"unknown client “{name}”", fix=f"Choose {', '.join(CLIENTS)}.")
    return CLIENTS[name]
