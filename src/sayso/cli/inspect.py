"""`sayso inspect`: what the tools of a server do to the world, and who says so."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from typing import Annotated, Any, Final

from cyclopts import Parameter
from rich.table import Table
from rich.text import Text

from sayso.catalog import Tool
from sayso.cli.lint_input import Source as SourceFile
from sayso.cli.lint_input import list_tools, source_of
from sayso.cli.options import NOTHING, Command, Given, Json, Many, TargetWord, Timeout, targets_of
from sayso.cli.receipts import read_vouched
from sayso.cli.surface import Surface, ask_surfaces, errors_in
from sayso.cli.terminal import make_table, out, plain, print_document, print_errors
from sayso.connect import Target
from sayso.errors import SaysoError, UsageError
from sayso.intent import HINT_NAMES, SPELLINGS, HintName, Level, Source
from sayso.lint import Severity, choose, find_profile, lint

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
_VALUES: Final = {"true": True, "false": False}
_COLOURS: Final = {Level.READ: "green", Level.WRITE: "yellow", Level.DESTRUCTIVE: "red"}

_Wanted = Sequence[tuple[HintName, bool]]


def inspect(
    *target: TargetWord,
    given: Given = NOTHING,
    json: Json = False,
    level: Annotated[list[Level] | None, Parameter(consume_multiple=False)] = None,
    hint: Many = None,
    timeout: Timeout = 30.0,
    command: Command = None,
) -> int:
    """Show the tools of a server with their level and hints, and who says so.

    Connects, lists the tools and calls none of them. Names the rules of sayso lint that a tool
    breaks. Exit code 1 when a declaration is wrong.

    Parameters
    ----------
    level
        Show only tools of this level: read, write or destructive. Repeat it for several.
    hint
        Show only tools whose hint counts so: read_only, destructive=false. Repeat it for several;
        all must hold.
    """
    wanted = _read_hints(hint or ())
    vouched = read_vouched(given)
    targets = targets_of(target, command)
    found = ask_surfaces(targets, timeout)
    if vouched is not None:
        found = [vouched.see(surface, place) for surface, place in zip(found, targets, strict=True)]
    found = _with_faults(found, source_of([*target, *(command or ())], targets))
    shown = [_sifted(surface, level or (), wanted) for surface in found]
    if json:
        _print_json(targets, shown)
    else:
        _print(found, shown)
    if errors := errors_in(found):
        return print_errors(errors, is_json=json)
    return int(any(surface.has_findings for surface in found if isinstance(surface, Surface)))


def _print_json(targets: tuple[Target, ...], found: list[Surface | SaysoError]) -> None:
    documents = [
        {"server": {"name": target.name}, **surface.to_dict()}
        if isinstance(surface, SaysoError)
        else surface.to_dict()
        for target, surface in zip(targets, found, strict=True)
    ]
    if len(documents) > 1:
        print_document({"servers": documents})
    elif not isinstance(found[0], SaysoError):
        print_document(documents[0])


def _print(found: list[Surface | SaysoError], shown: list[Surface | SaysoError]) -> None:
    console = out()
    wholes = [surface for surface in found if isinstance(surface, Surface)]
    surfaces = [surface for surface in shown if isinstance(surface, Surface)]
    for index, (whole, surface) in enumerate(zip(wholes, surfaces, strict=True)):
        if index:
            console.print()
        headline = plain(whole.headline)
        if surface is not whole:
            headline += f" ({len(surface.tools)} shown)"
        console.print(Text(headline, style="bold"))
        console.print(_table(surface.tools, console.width))
        if legend := _legend(surface.tools):
            console.print(Text(legend, style="dim"))
        for line in _remarks(surface):
            console.print(Text(plain(line), style="yellow"))


def _table(tools: list[Tool], width: int) -> Table:
    table = make_table()
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


def _read_hints(given: Sequence[str]) -> _Wanted:
    wanted: list[tuple[HintName, bool]] = []
    for text in given:
        name, equals, word = text.partition("=")
        if name not in SPELLINGS:
            fix = f"Hints are: {', '.join(HINT_NAMES)}."
            if close := get_close_matches(name, SPELLINGS, n=1):
                fix = f"Did you mean {close[0]!r}? {fix}"
            raise UsageError(f"there is no hint {name!r}", where="--hint", fix=fix)
        if equals and word not in _VALUES:
            what = f"the value of {name} must be true or false, got {word!r}"
            raise UsageError(what, where="--hint", fix=f"Write --hint {name}=false, say.")
        wanted.append((SPELLINGS[name], _VALUES.get(word, True)))
    return wanted


def _with_faults(
    surfaces: Sequence[Surface | SaysoError], source: SourceFile | None
) -> list[Surface | SaysoError]:
    """Add what `sayso lint` finds wrong with each tool, under the profile `spec`."""
    names = {
        tool.name: surface.name
        for surface in surfaces
        if isinstance(surface, Surface)
        for tool in surface.tools
    }
    return [
        _linted(surface, names, source) if isinstance(surface, Surface) else surface
        for surface in surfaces
    ]


def _linted(surface: Surface, names: Mapping[str, str], source: SourceFile | None) -> Surface:
    others = {tool: server for tool, server in names.items() if server != surface.name}
    listing = list_tools(surface.name, [tool.raw for tool in surface.tools], source, others=others)
    findings = lint(listing, choose(find_profile("spec"))).findings
    faults = [
        tuple(finding for finding in findings if finding.index == index)
        for index in range(len(surface.tools))
    ]
    return replace(surface, faults=faults)


def _sifted(
    surface: Surface | SaysoError, levels: Sequence[Level], hints: _Wanted
) -> Surface | SaysoError:
    """Keep the tools of any of these levels whose hints all count as wanted."""
    if isinstance(surface, SaysoError) or (not levels and not hints):
        return surface
    kept = [
        index
        for index, tool in enumerate(surface.tools)
        if (not levels or tool.level in levels) and _is_as_wanted(tool, hints)
    ]
    return replace(
        surface,
        tools=[surface.tools[index] for index in kept],
        faults=[surface.faults[index] for index in kept],
    )


def _is_as_wanted(tool: Tool, hints: _Wanted) -> bool:
    return all(tool.resolved[name].value is value for name, value in hints)
