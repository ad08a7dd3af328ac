"""The servers in the configurations of all clients that sayso supports."""

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from sayso.clients import swap
from sayso.clients.document import Document, as_object
from sayso.clients.kinds import CLIENTS, ENTRY, Client, client_of
from sayso.clients.masked import reached_by
from sayso.clients.places import Machine, Place, Scope, named, places, places_within
from sayso.clients.record import Record, folder_of, is_as_written, record_in, records
from sayso.connect import CommandTarget, UrlTarget, read_target
from sayso.connect import Scope as VariableScope
from sayso.errors import SaysoError, UsageError
from sayso.settings import JsonFile, parse_json

_MOVED: Final = "mcpServers"
"""The key of the servers in the gateway's copy."""
_SEE_DISCOVER: Final = "Run sayso discover to list all servers."


@dataclass(frozen=True, slots=True)
class DiscoveredServer:
    """One server of a client; `shown` is its command or URL, with secrets masked.

    Its entry is at `steps` in `file`.
    """

    place: Place
    name: str
    transport: str
    shown: str
    is_disabled: bool
    is_guarded: bool
    file: JsonFile = field(repr=False, compare=False)
    steps: tuple[str, ...] = field(repr=False, compare=False)

    def target(self) -> CommandTarget | UrlTarget:
        """Return the server as a target, which may hold secrets. Raises `ConfigError`."""
        scope = VariableScope(os.environ, self.place.workspace, Path.home())
        return read_target(self.file, self.steps, scope)

    def to_dict(self) -> dict[str, Any]:
        """Return the server in the form that `sayso discover --json` prints."""
        project = None
        if self.place.has_workspace:
            project = str(self.place.workspace)
        return {
            "client": self.place.client.name,
            "scope": self.place.scope,
            "file": str(self.place.path),
            "project": project,
            "name": self.name,
            "transport": self.transport,
            "address": self.shown,
            "disabled": self.is_disabled,
            "guarded": self.is_guarded,
        }


@dataclass(slots=True)
class Discovery:
    """The discovered servers, and the errors of the files that cannot be read."""

    found: list[DiscoveredServer] = field(default_factory=list[DiscoveredServer])
    errors: list[SaysoError] = field(default_factory=list[SaysoError])


def discover(machine: Machine) -> Discovery:
    """Return the servers in all clients' files, and in files where sayso is installed."""
    discovery = Discovery()
    installed = {(record.path, record.steps): record for record in records()}
    visited: set[tuple[Path, tuple[str, ...]]] = set()
    outer_places = [place for client in CLIENTS.values() for place in places(machine, client)]
    outer_places += [_place_of(record) for record in installed.values()]
    for outer in outer_places:
        try:
            for place, document in opened(outer):
                key = (place.path.resolve(), place.steps)
                if key not in visited:
                    visited.add(key)
                    discovery.found += _servers_at(place, document, installed.get(key))
        except SaysoError as error:
            if str(error) not in map(str, discovery.errors):
                discovery.errors.append(error)
    return discovery


def opened(place: Place) -> Iterator[tuple[Place, Document]]:
    """Yield each place of servers in the file at `place`, with the document, if the file exists."""
    if place.path.exists():
        document = Document.of(str(place.path), swap.look(place.path))
        for inner in places_within(place, document):
            yield inner, document


def pick(
    machine: Machine, client: Client, scope: Scope | None = None, path: Path | None = None
) -> Place:
    """Return the only place with servers for these options. Raises `UsageError` otherwise."""
    if path is not None:
        return _existing(named(machine, client, path))
    near = _near(machine, client)
    if scope is not None:
        for place, _ in near:
            if place.scope == scope:
                return place
        for place in places(machine, client):
            if place.scope == scope:
                return _existing(place)
        what = f"{client.title} has no servers in scope {scope}"
        raise UsageError(what, where="--scope", fix=_SEE_DISCOVER)
    full = [
        place
        for place, document in near
        if document.servers(place.steps) or record_in(folder_of(place))
    ]
    if len(full) > 1:
        listed = "; ".join(f"{place.scope}: {place.path}" for place in full)
        what = f"{client.title} has servers in {len(full)} places ({listed})"
        raise UsageError(what, fix=f"Name one: --scope {full[0].scope}.")
    if not full:
        looked = ", ".join(str(place.path) for place in places(machine, client) if _is_own(place))
        fix = f"Files searched: {looked}. Name another file with --file."
        raise UsageError(f"{client.title} has no MCP servers configured", fix=fix)
    return full[0]


def _is_own(place: Place) -> bool:
    return place.scope in ("user", "local", "project")


def _near(machine: Machine, client: Client) -> list[tuple[Place, Document]]:
    """Return the user's places of a client; of the local projects, only the innermost here."""
    pairs = [pair for place in places(machine, client) if _is_own(place) for pair in opened(place)]
    above = (machine.cwd, *machine.cwd.parents)
    local = [pair for pair in pairs if pair[0].scope == "local" and pair[0].workspace in above]
    nearest = sorted(local, key=lambda pair: len(pair[0].workspace.parts))[-1:]
    return [pair for pair in pairs if pair[0].scope != "local"] + nearest


def _existing(place: Place) -> Place:
    if not place.path.exists():
        raise UsageError("no such file", where=str(place.path), fix=_SEE_DISCOVER)
    return place


def _place_of(record: Record) -> Place:
    scope: Any = record.scope
    return Place(client_of(record.client), scope, record.path, record.steps, record.workspace)


def _servers_at(
    place: Place, document: Document, record: Record | None
) -> Iterator[DiscoveredServer]:
    """Yield the servers at `place`. Replace sayso's entry by the servers behind sayso."""
    for name, entry in document.servers(place.steps).items():
        if record is not None and name == ENTRY and is_as_written(document, record):
            moved = record.moved()
            copy = parse_json(str(record.servers), json.dumps({_MOVED: moved}, indent=2))
            for inner, value in moved.items():
                yield _server(place, value, copy, (_MOVED, inner), is_guarded=True)
        else:
            steps = (*place.steps, name)
            yield _server(place, entry, document.file, steps, is_guarded=False)


def _server(
    place: Place, entry: Any, file: JsonFile, steps: tuple[str, ...], *, is_guarded: bool
) -> DiscoveredServer:
    fields = as_object(entry)
    is_disabled = fields.get("disabled") is True or fields.get("enabled") is False
    transport, shown = reached_by(entry)
    return DiscoveredServer(
        place, steps[-1], transport, shown, is_disabled, is_guarded, file, steps
    )
