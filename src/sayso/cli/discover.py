"""`sayso discover`: the servers in the clients' configurations on this machine."""

from pathlib import Path
from typing import Final

from sayso.cli.options import Json
from sayso.cli.terminal import out, print_document, print_errors
from sayso.schema import plain
from sayso.styled import Table, Text

_MOST_ROWS: Final = 500
_LONGEST: Final = 1_000
"""Maximum characters per cell: very long texts from a project's file make the table slow."""


def discover(*, json: Json = False) -> int:
    """List the MCP servers that the clients on this machine are configured with.

    Reads the configurations of Claude Code, Claude Desktop, Cursor, VS Code and Gemini CLI: yours,
    the current folder's and the administrator's. Starts no server, and masks secrets.
    """
    from sayso.clients import Machine
    from sayso.clients import discover as look

    discovery = look(Machine.here())
    if json:
        print_document({"servers": [server.to_dict() for server in discovery.found]})
    elif not discovery.found:
        out().print("No MCP servers are configured.")
    else:
        table = Table()
        for heading in ("client", "scope", "server", "command or URL", "sayso", "file"):
            table.add_column(heading)
        for server in discovery.found[:_MOST_ROWS]:
            state = "in front" if server.is_guarded else "no"
            if server.is_disabled:
                state = "disabled"
            where = short(server.place.path)
            if server.place.scope == "local":
                where += f", {short(server.place.workspace)}"
            place = server.place
            cells = (place.client.name, place.scope, server.name, server.shown, state, where)
            table.add_row(*(Text(_cut(plain(cell))) for cell in cells))
        out().print(table)
        if len(discovery.found) > _MOST_ROWS:
            out().print(f"… and {len(discovery.found) - _MOST_ROWS:,} more (use --json)")
    return print_errors(discovery.errors, is_json=json)


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def short(path: Path) -> str:
    """Return a path with `~` for the home folder."""
    home = Path.home()
    if path.is_relative_to(home):
        return f"~/{path.relative_to(home)}"
    return str(path)
