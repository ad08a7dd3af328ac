"""The clients that sayso knows: the form of their configuration, and what a person must be told."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from sayso.errors import UsageError

ENTRY: Final = "sayso"
"""The name under which sayso stands in a client's configuration."""

_NO_VARIABLES: Final = re.compile(r"(?!)")


@dataclass(frozen=True, slots=True)
class Client:
    """One client. `variables` matches what it replaces by values itself; `key` holds its servers.

    A person reads `caution` before they agree; afterwards `after`, how the client comes to read
    its file again, and `first`, what it asks about a new server.
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
        """Return the entry of a server at `url`; raises `UsageError` if the client takes none."""
        if self.url_key is None:
            what = f"{self.title} only starts servers, it reaches none by a URL"
            raise UsageError(what, where="--url", fix="Leave --url out.")
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
        "Start Claude Code anew.",
        "Close Claude Code first: it rewrites this file while it runs. Its permission rules "
        "for mcp__SERVER__TOOL, also those that deny, must be written anew as "
        "mcp__sayso__SERVER__TOOL.",
        "It asks about a server in .mcp.json before it starts it.",
        has_type=True,
    ),
    Client(
        "claude-desktop",
        "Claude Desktop",
        "mcpServers",
        _NO_VARIABLES,
        None,
        "Quit Claude Desktop, not only its window, and open it again.",
    ),
    Client(
        "cursor",
        "Cursor",
        "mcpServers",
        re.compile(r"\$\{(?:env:[^{}]+|userHome|workspaceFolder(?:Basename)?|pathSeparator|/)\}"),
        "url",
        "Cursor reads the file again by itself; where it does not, restart it.",
        "Servers and tools that are switched off in Cursor's settings are on behind sayso.",
    ),
    Client(
        "vscode",
        "VS Code",
        "servers",
        re.compile(r"\$\{[^{}]+\}"),
        "url",
        "VS Code reads the file again by itself; “MCP: List Servers” starts what is there.",
        "Tools that are switched off in VS Code's tool picker are on behind sayso.",
        "It asks whether to trust sayso.",
        has_type=True,
    ),
    Client(
        "gemini",
        "Gemini CLI",
        "mcpServers",
        re.compile(r"\$(?:\w+|\{[^{}]+\})"),
        "httpUrl",
        "Start Gemini CLI anew.",
        "Servers that were switched off by “gemini mcp disable” are on behind sayso.",
    ),
)

CLIENTS: Final[Mapping[str, Client]] = {client.name: client for client in _CLIENTS}


def client_of(name: str) -> Client:
    """Return the client of this name. Raises `UsageError`."""
    if name not in CLIENTS:
        raise UsageError(f"“{name}” is no client", fix=f"sayso knows {', '.join(CLIENTS)}.")
    return CLIENTS[name]
