"""Snapshots of a server's surface, which fail a test when it loosens."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, cast

from sayso.catalog import Tool
from sayso.errors import ConfigError
from sayso.intent import HINT_NAMES, read_tool
from sayso.schema import digest
from sayso.testing.drift import drift_between
from sayso.testing.listing import Surface, surface_of
from sayso.testing.run_state import run
from sayso.testing.widening import shape_of

_FORMAT: Final = 1
_ENTRY: Final = frozenset({"hints", "input", "level", "name", "output", "roles", "scopes", "title"})
_UPDATE: Final = "pytest --sayso-update"


def assert_surface(server: object, path: str | Path, *, update: bool | None = None) -> None:
    """Assert that the server permits no more than the file at `path` records.

    A relative path starts at the folder of the test's file. Fails if a hint loosens, a tool is new,
    a scope is removed or a schema widens; changes that only tighten pass, and are reported at the
    end of the run. `pytest --sayso-update` writes the file, and so does `update`. Raises
    `AssertionError`, and `ConfigError` for an invalid file.

    >>> import tempfile
    >>> from mcp.server import MCPServer
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     assert_surface(MCPServer("crm"), f"{folder}/surface.json", update=True)
    ...     assert_surface(MCPServer("crm"), f"{folder}/surface.json")
    """
    __tracebackhide__ = True
    surface = surface_of(server, where="assert_surface")
    if surface.problems:
        lines = [f"{surface.name}: invalid entries cannot be recorded", *surface.problems]
        raise AssertionError("\n  ".join(lines))
    place = run.place(path)
    now = {tool.name: _entry(tool) for tool in surface.tools}
    if run.is_updating if update is None else update:
        is_new = _write(place, now)
        if is_new and update is None:
            run.notes.append(f"{place.name}: written; review it")
        return
    if not place.exists():
        what = f"{surface.name}: {place.name} does not exist"
        raise AssertionError(f"{what}; create it with {_UPDATE}, and put it under version control")
    _compare(surface, place, now)


def _compare(surface: Surface, place: Path, now: Mapping[str, Any]) -> None:
    __tracebackhide__ = True
    drift = drift_between(_read(place), now)
    if drift.loosened:
        lines = [f"{surface.name}: it permits more than {place.name} records", *drift.loosened]
        if drift.others:
            lines += ["other changes:", *drift.others]
        last = f"If this is intended, run {_UPDATE} and review {place.name}."
        raise AssertionError("\n  ".join(lines) + f"\n{last}")
    if drift.others:
        count = len(drift.others)
        noun = "change" if count == 1 else "changes"
        head = f"{place.name}: {count} {noun} without loosening; record with {_UPDATE}"
        run.notes += [head, *(f"  {change}" for change in drift.others)]


def _entry(tool: Tool) -> dict[str, Any]:
    """Return the recorded form of one tool, from its declaration alone."""
    intent = read_tool(tool.raw).intent
    return {
        "name": tool.name,
        "title": intent.title,
        "level": str(intent.level),
        "hints": {name: intent.hints[name] for name in HINT_NAMES},
        "scopes": sorted(intent.scopes),
        "roles": sorted(intent.roles),
        "input": _schema(tool.raw.get("inputSchema")),
        "output": _schema(tool.raw.get("outputSchema")),
    }


def _schema(schema: Any) -> dict[str, Any] | None:
    if schema is None:
        return None
    return {"fingerprint": digest(schema), "schema": shape_of(schema)}


def _write(place: Path, tools: Mapping[str, Any]) -> bool:
    document = {"format": _FORMAT, "tools": tools}
    text = json.dumps(document, indent=2, sort_keys=True, ensure_ascii=False)
    if place.exists() and place.read_text(encoding="utf-8") == f"{text}\n":
        return False
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(f"{text}\n", encoding="utf-8")
    return True


def _read(place: Path) -> Mapping[str, Any]:
    fix = f"Replace it with {_UPDATE}."
    try:
        document: Any = json.loads(place.read_text(encoding="utf-8"))
    except json.JSONDecodeError as error:
        where = f"{place}:{error.lineno}:{error.colno}"
        raise ConfigError(f"invalid JSON: {error.msg}", where=where, fix=fix) from error
    if not isinstance(document, dict) or cast("dict[str, Any]", document).get("format") != _FORMAT:
        raise ConfigError("not a recorded surface", where=str(place), fix=fix)
    tools: Any = cast("dict[str, Any]", document).get("tools")
    if not isinstance(tools, dict):
        raise ConfigError("tools must be an object", where=str(place), fix=fix)
    for name, entry in cast("dict[str, Any]", tools).items():
        if not isinstance(entry, dict) or frozenset(cast("dict[str, Any]", entry)) != _ENTRY:
            raise ConfigError(f"the entry of {name!r} is incomplete", where=str(place), fix=fix)
    return cast("Mapping[str, Any]", tools)
