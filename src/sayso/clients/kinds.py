"""The clients that sayso knows: the form of their configuration, and what a person must be told."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from sayso.errors import UsageError

ENTRY: Final = "sayso"
"""The name under which sayso stands in a client's configuration."""

STDIO: Final = "--stdio"
"""The option by which `sayso gateway` speaks to the client that has started it."""


@dataclass(frozen=True, slots=True)
class Client:
    """One client. `variables` is what it puts values in the place of, all by itself.

    `key` holds its servers. `caution` is told before a person agrees; once it is done, `after` how
    the client comes to read its file again, and `first` what it asks about a new server.
    """

    name: str
    title: str
    key: str
    variables: re.Pattern[str] | None
    url_key: str | None
    after: str
    caution: str | None = None
    first: str | None = None
    has_type: bool = False

    def started(self, words: tuple[str, ...], env: Mapping[str, str]) -> dict[str, Any]:
        """The entry of a server that this client starts."""
        kind = {"type": "stdio"} if self.has_type else {}
        given = {"env": dict(env)} if env else {}
        return {**kind, "command": words[0], "args": list(words[1:]), **given}

    def reached(self, url: str) -> dict[str, Any]:
        """The entry of a server at `url`; raises `UsageError` where the client knows no such."""
        if self.url_key is None:
            what = f"{self.title} only starts servers, it reaches none by a URL"
            raise UsageError(what, where="--url", fix="Leave --url out.")
        kind = {"type": "http"} if self.has_type else {}
        return {**kind, self.url_key: url}


CLIENTS: Final[Mapping[str, Client]] = {
    client.name: client
    for client in (
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
            None,
            None,
            "Quit Claude Desktop, not only its window, and open it again.",
        ),
        Client(
            "cursor",
            "Cursor",
            "mcpServers",
            re.compile(
                r"\$\{(?:env:[^{}]+|userHome|workspaceFolder(?:Basename)?|pathSeparator|/)\}"
            ),
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
}


def client_of(name: str) -> Client:
    """The client of this name; raises `UsageError`."""
    if name not in CLIENTS:
        raise UsageError(f"“{name}” is no client", fix=f"sayso knows {', '.join(CLIENTS)}.")
    return CLIENTS[name]
