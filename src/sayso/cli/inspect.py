"""`sayso inspect`: what the tools of a server do to the world, and who says so."""

from typing import Annotated, Any, Final

import anyio
from cyclopts import Parameter
from rich.table import Table
from rich.text import Text

from sayso.catalog import Tool
from sayso.cli.address import check_seconds
from sayso.cli.receipt_options import NOTHING, Given
from sayso.cli.surface import Surface, read_surfaces
from sayso.cli.terminal import out, plain, print_error, print_error_json, print_json, working
from sayso.connect import Target, parse_target
from sayso.errors import SaysoError
from sayso.intent import HINT_NAMES, Level, Source

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
    level: Annotated[list[Level] | None, Parameter(consume_multiple=False)] = None,
    hint: Annotated[list[str] | None, Parameter(consume_multiple=False)] = None,
    timeout: float = 30.0,
    command: Annotated[list[str] | None, Parameter(parse=False)] = None,
) -> int:
    """Show the tools of a server with their level and hints, and who says so.

    Connects, lists the tools and calls none of them. Names the rules of sayso lint that a tool
    breaks. Exit code 1 when a declaration is wrong.

    Parameters
    ----------
    target
        server.py or server.py:object, an http(s) URL, a client's configuration (mcp.json), one
        entry of it (mcp.json#name), or a saved tools/list (tools.json). A command goes after --.
    json
        Print one JSON document.
    level
        Show only tools of this level: read, write or destructive. Repeat it for several.
    hint
        Show only tools whose hint counts so: read_only, destructive=false. Repeat it for several;
        all must hold.
    timeout
        Seconds to wait for a server.
    """
    from sayso.cli.lint_input import source_of
    from sayso.cli.receipts import read_vouched
    from sayso.cli.sifted import read_hints, sifted, with_faults

    wanted = read_hints(hint or ())
    check_seconds(timeout, "--timeout")
    vouched = read_vouched(given)
    words = target if command is None else [*target, *command]
    targets = parse_target(words, is_command=command is not None and not target)
    with working("Asking for the tools …"):
        found = anyio.run(read_surfaces, targets, timeout)
    if vouched is not None:
        found = [
            vouched.see(surface, target) if isinstance(surface, Surface) else surface
            for surface, target in zip(found, targets, strict=True)
        ]
    errors = [surface for surface in found if isinstance(surface, SaysoError)]
    found = with_faults(found, source_of(words, targets))
    shown = [sifted(o, level or (), wanted) if isinstance(o, Surface) else o for o in found]
    if json:
        _print_json(targets, shown)
    else:
        _print(found, shown)
    for error in errors:
        (print_error_json if json else print_error)(error)
    if errors:
        return max(error.exit_code for error in errors)
    return int(any(surface.has_findings for surface in found if isinstance(surface, Surface)))


def _print_json(targets: tuple[Target, ...], found: list[Surface | SaysoError]) -> None:
    documents = [
        {"server": {"name": target.name}, **surface.to_dict()}
        if isinstance(surface, SaysoError)
        else surface.to_dict()
        for target, surface in zip(targets, found, strict=True)
    ]
    if len(documents) > 1:
        print_json({"schema": _SCHEMA, "servers": documents})
    elif not isinstance(found[0], SaysoError):
        print_json({"schema": _SCHEMA, **documents[0]})


def _print(found: list[Surface | SaysoError], shown: list[Surface | SaysoError]) -> None:
    console = out()
    wholes = [surface for surface in found if isinstance(surface, Surface)]
    surfaces = [surface for surface in shown if isinstance(surface, Surface)]
    for index, (whole, surface) in enumerate(zip(wholes, surfaces, strict=True)):
        if index:
            console.print()
        count = "" if surface is whole else f" ({len(surface.tools)} shown)"
        console.print(Text(plain(whole.headline) + count, style="bold"))
        console.print(_table(surface.tools, console.width))
        if legend := _legend(surface.tools):
            console.print(Text(legend, style="dim"))
        for line in _remarks(surface):
            console.print(Text(plain(line), style="yellow"))


def _table(tools: list[Tool], width: int) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("tool", overflow="fold", max_width=max(_NARROWEST, width - _BESIDE))
    for name in ("level", *(name.replace("_", "\n") for name in HINT_NAMES)):
        table.add_column(name, vertical="bottom")
    for tool in tools:
        level = Text(str(tool.level), style=_COLOURS[tool.level])
        table.add_row(plain(tool.name), level, *(_hint(tool, name) for name in HINT_NAMES))
    return table


def _hint(tool: Tool, name: Any) -> Text:
    hint = tool.resolved[name]
    return Text("yes" if hint.value else "no").append(_MARKS[hint.source][0], "cyan")


def _legend(tools: list[Tool]) -> str:
    sources = {tool.resolved[name].source for tool in tools for name in HINT_NAMES}
    marks = [
        f"{mark} {meaning}"
        for source, (mark, meaning) in _MARKS.items()
        if source in sources and mark
    ]
    return "   ".join(marks)


def _remarks(surface: Surface) -> list[str]:
    from sayso.lint import Severity

    of_tools = [
        f"{tool.name}: {finding.message} [{finding.code}]"
        for tool in surface.tools
        for finding in tool.findings
    ]
    broken = [
        f"lint: {tool.name} breaks {', '.join(codes)}"
        for tool, faults in zip(surface.tools, surface.faults, strict=True)
        if (
            codes := dict.fromkeys(
                fault.code for fault in faults if fault.severity is not Severity.NOTE
            )
        )
    ]
    return [*of_tools, *surface.problems, *broken]
