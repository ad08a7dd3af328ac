"""What `sayso inspect` adds to tools that were read: what lint finds, and a choice among them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from typing import Final

from sayso.catalog import Tool
from sayso.cli.lint_input import Source
from sayso.cli.surface import Surface
from sayso.errors import SaysoError, UsageError
from sayso.intent import HINT_NAMES, SPELLINGS, HintName, Level
from sayso.lint import choose, find_profile, lint, make_listing

Wanted = Sequence[tuple[HintName, bool]]

_VALUES: Final = {"true": True, "false": False}


def read_hints(given: Sequence[str]) -> Wanted:
    """The hints that `--hint` names, each with its value. Raises `UsageError`.

    >>> read_hints(["read_only", "openWorldHint=false"])
    [('read_only', True), ('open_world', False)]
    """
    wanted: list[tuple[HintName, bool]] = []
    for text in given:
        name, equals, word = text.partition("=")
        if name not in SPELLINGS:
            close = get_close_matches(name, SPELLINGS, n=1)
            meant = f"Did you mean {close[0]!r}? " if close else ""
            fix = f"{meant}Hints are: {', '.join(HINT_NAMES)}."
            raise UsageError(f"there is no hint {name!r}", where="--hint", fix=fix)
        if equals and word not in _VALUES:
            what = f"the value of {name} must be true or false, got {word!r}"
            raise UsageError(what, where="--hint", fix=f"Write --hint {name}=false, say.")
        wanted.append((SPELLINGS[name], _VALUES.get(word, True)))
    return wanted


def with_faults(
    surfaces: Sequence[Surface | SaysoError], source: Source | None
) -> list[Surface | SaysoError]:
    """The same with what `sayso lint` finds wrong with each tool, under the profile `spec`."""
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


def _linted(surface: Surface, names: Mapping[str, str], source: Source | None) -> Surface:
    listing = make_listing(
        surface.name,
        [tool.raw for tool in surface.tools],
        definitions=source.definitions if source else {},
        handlers=source.handlers if source else None,
        others={tool: server for tool, server in names.items() if server != surface.name},
    )
    findings = lint(listing, choose(find_profile("spec"))).findings
    faults = [
        tuple(finding for finding in findings if finding.index == index)
        for index in range(len(surface.tools))
    ]
    return replace(surface, faults=faults)


def sifted(surface: Surface, levels: Sequence[Level], hints: Wanted) -> Surface:
    """The tools of any of these levels whose hints all count as wanted."""
    if not levels and not hints:
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


def _is_as_wanted(tool: Tool, hints: Wanted) -> bool:
    return all(tool.resolved[name].value is value for name, value in hints)
