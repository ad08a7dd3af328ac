"""`sayso inspect`: a server's tools with their level, hints and sources."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from typing import Any, Final

from sayso.catalog import Tool
from sayso.cli.lint_input import Source as SourceFile
from sayso.cli.lint_input import list_tools, source_of
from sayso.cli.options import (
    NO_RECEIPTS,
    Command,
    Json,
    Many,
    ReceiptOptions,
    TargetWord,
    Timeout,
    targets_of,
)
from sayso.cli.receipts import read_trusted_receipts
from sayso.cli.terminal import make_table, out, plain, print_document, print_errors
from sayso.cli.tool_reading import ToolListing, ask_listings, errors_in
from sayso.connect import Target
from sayso.errors import SaysoError, UsageError
from sayso.intent import HINT_NAMES, SPELLINGS, HintName, Level, Source
from sayso.lint import Severity, choose, find_profile, lint
from sayso.styled import Column, Table, Text

_MARKS: Final = {
    Source.DECLARED: ("", ""),
    Source.INFERRED: ("*", "inferred from name and description"),
    Source.DEFAULT: ("?", "not declared: the specification's default"),
    Source.VERIFIED: ("+", "verified by running it"),
    Source.OPERATOR: ("!", "set by the operator"),
}
_OTHER_COLUMNS: Final = 53
"""Width of the columns after the name."""
_NARROWEST: Final = 12
_VALUES: Final = {"true": True, "false": False}
_COLOURS: Final = {Level.READ: "green", Level.WRITE: "yellow", Level.DESTRUCTIVE: "red"}

_HintFilters = Sequence[tuple[HintName, bool]]


def inspect(
    *target: TargetWord,
    given: ReceiptOptions = NO_RECEIPTS,
    json: Json = False,
    level: list[Level] | None = None,
    hint: Many = None,
    timeout: Timeout = 30.0,
    command: Command = None,
) -> int:
    """Show a server's tools with their level, their hints and the source of each hint.

    Connects, lists the tools and calls none. Also names the sayso lint rules that each tool breaks.
    Exit code 1 if a declaration is invalid.

    Parameters
    ----------
    level
        Show only tools of this level: read, write or destructive. Repeatable.
    hint
        Show only tools with this resolved hint, such as read_only or destructive=false.
        Repeatable; a tool must match all of them.
    """
    wanted = _read_hints(hint or ())
    trusted = read_trusted_receipts(given)
    targets = targets_of(target, command)
    found = ask_listings(targets, timeout)
    if trusted is not None:
        found = [trusted.see(listing, place) for listing, place in zip(found, targets, strict=True)]
    found = _with_faults(found, source_of([*target, *(command or ())], targets))
    shown = [_filtered(listing, level or (), wanted) for listing in found]
    if json:
        _print_json(targets, shown)
    else:
        _print(found, shown)
    if errors := errors_in(found):
        return print_errors(errors, is_json=json)
    return int(any(listing.has_findings for listing in found if isinstance(listing, ToolListing)))


def _print_json(targets: tuple[Target, ...], found: list[ToolListing | SaysoError]) -> None:
    documents = [
        {"server": {"name": target.name}, **listing.to_dict()}
        if isinstance(listing, SaysoError)
        else listing.to_dict()
        for target, listing in zip(targets, found, strict=True)
    ]
    if len(documents) > 1:
        print_document({"servers": documents})
    elif not isinstance(found[0], SaysoError):
        print_document(documents[0])


def _print(found: list[ToolListing | SaysoError], shown: list[ToolListing | SaysoError]) -> None:
    console = out()
    wholes = [listing for listing in found if isinstance(listing, ToolListing)]
    listings = [listing for listing in shown if isinstance(listing, ToolListing)]
    for index, (whole, listing) in enumerate(zip(wholes, listings, strict=True)):
        if index:
            console.print()
        headline = plain(whole.headline)
        if listing is not whole:
            headline += f" ({len(listing.tools)} shown)"
        console.print(Text(headline, "bold"))
        console.print(_table(listing.tools, console.width))
        if legend := _legend(listing.tools):
            console.print(Text(legend, "dim"))
        for line in _remarks(listing):
            console.print(Text(plain(line), "yellow"))


def _table(tools: list[Tool], width: int) -> Table:
    table = make_table()
    table.add_column(Column("tool", max_width=max(_NARROWEST, width - _OTHER_COLUMNS)))
    for name in ("level", *(name.replace("_", "\n") for name in HINT_NAMES)):
        table.add_column(Column(name, is_fixed=True))
    for tool in tools:
        level = Text(str(tool.level), _COLOURS[tool.level])
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


def _remarks(listing: ToolListing) -> list[str]:
    of_tools = [
        f"{tool.name}: {finding.message} [{finding.code}]"
        for tool in listing.tools
        for finding in tool.findings
    ]
    broken = [
        f"lint: {tool.name} breaks {', '.join(codes)}"
        for tool, faults in zip(listing.tools, listing.faults, strict=True)
        if (
            codes := dict.fromkeys(
                fault.code for fault in faults if fault.severity is not Severity.NOTE
            )
        )
    ]
    return [*of_tools, *listing.problems, *broken]


def _read_hints(given: Sequence[str]) -> _HintFilters:
    wanted: list[tuple[HintName, bool]] = []
    for text in given:
        name, equals, word = text.partition("=")
        if name not in SPELLINGS:
            fix = f"Hints are: {', '.join(HINT_NAMES)}."
            if close := get_close_matches(name, SPELLINGS, n=1):
                fix = f"Did you mean {close[0]!r}? {fix}"
            raise UsageError(f"unknown hint {name!r}", where="--hint", fix=fix)
        if equals and word not in _VALUES:
            what = f"the value of {name} must be true or false, got {word!r}"
            raise UsageError(what, where="--hint", fix=f"For example: --hint {name}=false.")
        wanted.append((SPELLINGS[name], _VALUES.get(word, True)))
    return wanted


def _with_faults(
    listings: Sequence[ToolListing | SaysoError], source: SourceFile | None
) -> list[ToolListing | SaysoError]:
    """Add the findings of `sayso lint` to each tool, under the profile `spec`."""
    names = {
        tool.name: listing.name
        for listing in listings
        if isinstance(listing, ToolListing)
        for tool in listing.tools
    }
    return [
        _linted(listing, names, source) if isinstance(listing, ToolListing) else listing
        for listing in listings
    ]


def _linted(
    listing: ToolListing, names: Mapping[str, str], source: SourceFile | None
) -> ToolListing:
    others = {tool: server for tool, server in names.items() if server != listing.name}
    raw = [tool.raw for tool in listing.tools]
    linted = list_tools(listing.name, raw, source, others=others)
    findings = lint(linted, choose(find_profile("spec"))).findings
    faults = [
        tuple(finding for finding in findings if finding.index == index)
        for index in range(len(listing.tools))
    ]
    return replace(listing, faults=faults)


def _filtered(
    listing: ToolListing | SaysoError, levels: Sequence[Level], hints: _HintFilters
) -> ToolListing | SaysoError:
    """Keep the tools of any of these levels whose hints all match."""
    if isinstance(listing, SaysoError) or (not levels and not hints):
        return listing
    matches = [
        index
        for index, tool in enumerate(listing.tools)
        if (not levels or tool.level in levels)
        and all(tool.resolved[name].value is value for name, value in hints)
    ]
    return replace(
        listing,
        tools=[listing.tools[index] for index in matches],
        faults=[listing.faults[index] for index in matches],
    )
