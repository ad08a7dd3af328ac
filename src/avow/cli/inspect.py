"""`avow inspect`: what the tools of a server do to the world, and who says so."""

from typing import Annotated, Any, Final

import anyio
from cyclopts import Parameter
from rich.table import Table
from rich.text import Text

from avow.catalog import Tool
from avow.cli.address import check_seconds
from avow.cli.given import NOTHING, Given
from avow.cli.surface import Surface, read_surfaces
from avow.cli.terminal import out, plain, print_error, print_error_json, print_json, working
from avow.connect import Target, parse_target
from avow.errors import AvowError
from avow.intent import HINT_NAMES, Level, Source

_SCHEMA: Final = 1
_MARKS: Final = {
    Source.DECLARED: ("", ""),
    Source.INFERRED: ("*", "inferred from name and description"),
    Source.DEFAULT: ("?", "nobody said: the specification's default"),
    Source.VERIFIED: ("+", "verified by running it"),
    Source.OPERATOR: ("!", "set by the operator"),
}
_BESIDE: Final = 53
"""The columns behind the name."""
_NARROWEST: Final = 12
_COLOURS: Final = {Level.READ: "green", Level.WRITE: "yellow", Level.DESTRUCTIVE: "red"}


def inspect(
    *target: str,
    given: Given = NOTHING,
    json: bool = False,
    timeout: float = 30.0,
    command: Annotated[list[str] | None, Parameter(parse=False)] = None,
) -> int:
    """Show the tools of a server with their level and hints, and who says so.

    Connects, lists the tools and calls none of them. Exit code 1 when a declaration is wrong.

    Parameters
    ----------
    target
        server.py or server.py:object, an http(s) URL, a client's configuration (mcp.json), one
        entry of it (mcp.json#name), or a saved tools/list (tools.json). A command goes after --.
    json
        Print one JSON document.
    timeout
        Seconds to wait for a server.
    """
    from avow.cli.vouched import read_vouched

    check_seconds(timeout, "--timeout")
    vouched = read_vouched(given)
    words = target if command is None else [*target, *command]
    targets = parse_target(words, is_command=command is not None and not target)
    with working("Asking for the tools …"):
        found = anyio.run(read_surfaces, targets, timeout)
    if vouched is not None:
        found = [
            vouched.see(one, target) if isinstance(one, Surface) else one
            for one, target in zip(found, targets, strict=True)
        ]
    errors = [one for one in found if isinstance(one, AvowError)]
    if json:
        _print_json(targets, found)
    else:
        _print(found)
    for error in errors:
        (print_error_json if json else print_error)(error)
    if errors:
        return max(error.exit_code for error in errors)
    return int(any(one.has_findings for one in found if isinstance(one, Surface)))


def _print_json(targets: tuple[Target, ...], found: list[Surface | AvowError]) -> None:
    documents = [
        {"server": {"name": target.name}, **one.to_dict()}
        if isinstance(one, AvowError)
        else one.to_dict()
        for target, one in zip(targets, found, strict=True)
    ]
    if len(documents) > 1:
        print_json({"schema": _SCHEMA, "servers": documents})
    elif not isinstance(found[0], AvowError):
        print_json({"schema": _SCHEMA, **documents[0]})


def _print(found: list[Surface | AvowError]) -> None:
    console = out()
    surfaces = [one for one in found if isinstance(one, Surface)]
    for index, surface in enumerate(surfaces):
        if index:
            console.print()
        console.print(Text(plain(surface.headline), style="bold"))
        console.print(_table(surface.tools, console.width))
        if legend := _legend(surface.tools):
            console.print(Text(legend, style="dim"))
        for line in _remarks(surface):
            console.print(Text(plain(line), style="yellow"))


def _table(tools: list[Tool], width: int) -> Table:
    """The hints of all tools; a long name takes lines rather than the room of the hints."""
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("tool", overflow="fold", max_width=max(_NARROWEST, width - _BESIDE))
    for name in ("level", *(name.replace("_", "\n") for name in HINT_NAMES)):
        table.add_column(name, vertical="bottom")
    for tool in tools:
        level = Text(str(tool.level), style=_COLOURS[tool.level])
        table.add_row(plain(tool.name), level, *(_hint(tool, name) for name in HINT_NAMES))
    return table


def _hint(tool: Tool, name: Any) -> Text:
    one = tool.resolved[name]
    return Text("yes" if one.value else "no").append(_MARKS[one.source][0], "cyan")


def _legend(tools: list[Tool]) -> str:
    """What the marks mean that stand in the table; a hint without one was declared."""
    sources = {tool.resolved[name].source for tool in tools for name in HINT_NAMES}
    marks = [
        f"{mark} {meaning}"
        for source, (mark, meaning) in _MARKS.items()
        if source in sources and mark
    ]
    return "   ".join(marks)


def _remarks(surface: Surface) -> list[str]:
    of_tools = [
        f"{tool.name}: {finding.message} [{finding.code}]"
        for tool in surface.tools
        for finding in tool.findings
    ]
    return [*of_tools, *surface.problems]
