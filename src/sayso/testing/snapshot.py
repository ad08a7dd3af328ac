"""A server's surface as a file under version control, which must not loosen unseen."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, cast

from sayso.catalog import Tool
from sayso.errors import ConfigError
from sayso.intent import HINT_NAMES, read_tool
from sayso.schema import digest
from sayso.testing.drift import drift_between
from sayso.testing.moment import moment
from sayso.testing.surface import Surface, surface_of
from sayso.testing.widening import shape_of

_FORMAT: Final = 1
_ENTRY: Final = frozenset({"hints", "input", "level", "name", "output", "roles", "scopes", "title"})
_UPDATE: Final = "pytest --sayso-update"


def assert_surface(server: object, path: str | Path, *, update: bool | None = None) -> None:
    """What the server offers is what the file at `path` records, or less.

    A relative path is beside the test's own file. Fails where a hint loosens, a tool is new, a
    scope is dropped or a schema takes more; passes where it is only tightened, and says so at the
    end of the run. `pytest --sayso-update` writes the file, as `update` does. Raises
    `AssertionError`, and `ConfigError` for a file that records no surface.

    >>> import tempfile
    >>> from mcp.server import MCPServer
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     assert_surface(MCPServer("crm"), f"{folder}/surface.json", update=True)
    ...     assert_surface(MCPServer("crm"), f"{folder}/surface.json")
    """
    __tracebackhide__ = True
    surface = surface_of(server, where="assert_surface")
    if surface.problems:
        lines = [f"{surface.name}: its list cannot be recorded", *surface.problems]
        raise AssertionError("\n  ".join(lines))
    place = moment.place(path)
    now = {tool.name: _entry(tool) for tool in surface.tools}
    if moment.is_updating if update is None else update:
        is_new = _write(place, now)
        if is_new and update is None:
            moment.notes.append(f"{place.name}: written; review it")
        return
    if not place.exists():
        what = f"{surface.name}: there is no {place.name} to hold it against"
        raise AssertionError(f"{what}; write it with {_UPDATE}, and put it under version control")
    _hold(surface, place, drift_of=now)


def _hold(surface: Surface, place: Path, *, drift_of: Mapping[str, Any]) -> None:
    __tracebackhide__ = True
    drift = drift_between(_read(place), drift_of)
    if drift.loosened:
        lines = [f"{surface.name}: it permits more than {place.name} records", *drift.loosened]
        if drift.others:
            lines += ["and, without permitting more:", *drift.others]
        last = f"If all of this is meant, record it with {_UPDATE} and review {place.name}."
        raise AssertionError("\n  ".join(lines) + f"\n{last}")
    if drift.others:
        count = len(drift.others)
        noun = "change" if count == 1 else "changes"
        head = f"{place.name}: {count} {noun} that permit no more; record them with {_UPDATE}"
        moment.notes += [head, *(f"  {change}" for change in drift.others)]


def _entry(tool: Tool) -> dict[str, Any]:
    """One tool as it is recorded: by what it declares, whatever sayso would make of it."""
    said = read_tool(tool.raw).intent
    return {
        "name": tool.name,
        "title": said.title,
        "level": str(said.level),
        "hints": {name: said.hints[name] for name in HINT_NAMES},
        "scopes": sorted(said.scopes),
        "roles": sorted(said.roles),
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
    fix = f"Write it anew with {_UPDATE}."
    try:
        found: Any = json.loads(place.read_text(encoding="utf-8"))
    except json.JSONDecodeError as error:
        where = f"{place}:{error.lineno}:{error.colno}"
        raise ConfigError(f"this is not JSON: {error.msg}", where=where, fix=fix) from error
    if not isinstance(found, dict) or cast("dict[str, Any]", found).get("format") != _FORMAT:
        raise ConfigError("this records no surface", where=str(place), fix=fix)
    tools: Any = cast("dict[str, Any]", found).get("tools")
    if not isinstance(tools, dict):
        raise ConfigError("this records no tools", where=str(place), fix=fix)
    for name, entry in cast("dict[str, Any]", tools).items():
        if not isinstance(entry, dict) or frozenset(cast("dict[str, Any]", entry)) != _ENTRY:
            raise ConfigError(f"the tool {name!r} is recorded in part", where=str(place), fix=fix)
    return cast("Mapping[str, Any]", tools)
