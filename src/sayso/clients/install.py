"""Installation of sayso in front of a client's servers, and its removal.

Both begin with a plan that a person can review. A crash at any step leaves either the old or the
new state, and a record of the change.
"""

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from sayso.clients import swap
from sayso.clients.choice import Choice, Selection, choose
from sayso.clients.document import Document
from sayso.clients.kinds import ENTRY
from sayso.clients.places import Place
from sayso.clients.record import Record, digest_of, folder_of, record_in, undo
from sayso.clients.splice import raw_members, take_out
from sayso.connect import fault_of_url
from sayso.errors import ConfigError, UsageError
from sayso.extras import lasting_command


@dataclass(frozen=True, slots=True)
class Plan:
    """A change of a client's file from `now` to `then`. `back` is the file without sayso."""

    place: Place
    now: Document = field(repr=False)
    then: Document = field(repr=False)
    back: Document = field(repr=False)
    choice: Choice
    record: Record
    earlier: Record | None

    @property
    def is_needed(self) -> bool:
        """True if the plan changes anything."""
        return (
            self.now.data != self.then.data
            or self.earlier is None
            or _kept_servers(self.record) != self.choice.moved
        )


@dataclass(frozen=True, slots=True)
class Removal:
    """A removal, from `now` to `then`. `is_exact` is true if it restores the original bytes."""

    record: Record
    now: Document = field(repr=False)
    then: Document = field(repr=False)
    is_exact: bool


def program() -> tuple[str, ...]:
    """Return the command that starts sayso. Raises `UsageError` if sayso runs from a cache."""
    lasting = lasting_command()
    if lasting is not None:
        what = "sayso runs from a cache, which may be deleted at any time"
        raise UsageError(what, where=sys.executable, fix=f"Install it first: {lasting}.")
    script = Path(sys.executable).with_name("sayso")
    if script.is_file():
        return (str(script),)
    return sys.executable, "-m", "sayso"


def gateway_words(servers: Path, policy: str | None = None) -> tuple[str, ...]:
    """Return the arguments of `sayso` for a gateway over stdio in front of `servers`."""
    words = ("gateway", str(servers), "--stdio")
    if policy is not None:
        words += ("--policy", str(Path(policy).absolute()))
    return words


def plan_install(
    place: Place, selection: Selection, *, url: str | None = None, policy: str | None = None
) -> Plan:
    """Plan to put sayso in front of the servers at `place`.

    If sayso is already installed, start from the file without it. Raises `UsageError` if no server
    can move, and `ConfigError` if the file is invalid.
    """
    if url is not None and (fault := fault_of_url(url)):
        raise UsageError(fault[0], where="--url", fix=fault[1])
    path, data = swap.locate(place.path)
    now = Document.of(str(place.path), data)
    folder = folder_of(place)
    earlier = record_in(folder)
    back = now
    if earlier is not None:
        back, _ = undo(now, earlier)
    choice = choose(back, place, selection)
    if not choice.moved:
        raise _nothing(place, choice)
    written = raw_members(back, place.steps)
    record = Record(
        folder,
        place.client.name,
        place.scope,
        path,
        place.steps,
        place.workspace,
        {},
        {name: written[name] for name in choice.moved},
        {},
    )
    if url is None:
        words = (*program(), *gateway_words(record.servers, policy))
        entry = place.client.started(words, choice.env)
    else:
        entry = place.client.reached(url)
    then = take_out(back, place.steps, taken=choice.moved, name=ENTRY, entry=entry)
    changes = {digest_of(then.data): digest_of(back.data)}
    record = replace(record, entry=entry, changes=changes)
    return Plan(place, now, then, back, choice, record, earlier)


def carry_out(plan: Plan) -> None:
    """Carry out a plan. After a crash, `undo` can recover. Raises `ConfigError`."""
    record = plan.record
    earlier = plan.earlier
    previous: Mapping[str, Any] = {}
    record.save_original(plan.back.data)
    if earlier is None:
        record.save_servers(plan.choice.moved)
        record.save()
    else:
        # The old entry is in use until the file is replaced, so save its servers and the new ones.
        previous = _kept_servers(earlier)
        if digest_of(plan.now.data) not in earlier.changes:
            record.save_original(plan.now.data)
        record.save_servers({**plan.choice.moved, **previous})
        both = {**earlier.written, **record.written}
        replace(record, written=both, changes={**earlier.changes, **record.changes}).save()
    if plan.now.data != plan.then.data:
        try:
            swap.replace(record.path, plan.now.data, plan.then.data)
        except ConfigError:
            _roll_back(plan, previous)
            raise
    record.save()
    record.save_servers(plan.choice.moved)


def _roll_back(plan: Plan, servers: Mapping[str, Any]) -> None:
    if plan.earlier is None:
        plan.record.forget(keeps_originals=False)
    else:
        plan.earlier.save_servers(servers)
        plan.earlier.save()


def plan_removal(record: Record) -> Removal:
    """Plan to remove sayso. Raises `ConfigError` if it cannot be removed."""
    if not record.path.exists():
        fix = f"A backup is kept in {record.folder}."
        raise ConfigError("the file no longer exists", where=str(record.path), fix=fix)
    now = Document.of(str(record.path), swap.read(record.path))
    then, is_exact = undo(now, record)
    return Removal(record, now, then, is_exact)


def remove(removal: Removal) -> Path | None:
    """Carry out a removal. If it was not exact, return the folder with the backup."""
    record = removal.record
    needs_backup = not removal.is_exact and removal.now.data != removal.then.data
    if needs_backup:
        record.save_original(removal.now.data)
    if removal.now.data != removal.then.data:
        swap.replace(record.path, removal.now.data, removal.then.data)
    record.forget(keeps_originals=needs_backup)
    return record.folder if needs_backup else None


def _kept_servers(record: Record) -> Mapping[str, Any]:
    try:
        return json.loads(swap.read(record.servers))["mcpServers"]
    except (ConfigError, ValueError, KeyError):
        return {}


def _nothing(place: Place, choice: Choice) -> UsageError:
    if not choice.stays:
        what = f"{place.client.title} has no servers in this file"
        fix = "Run sayso discover to list all servers."
        return UsageError(what, where=str(place.path), fix=fix)
    why = "; ".join(f"{name}: {reason}" for name, reason in choice.stays.items())
    return UsageError(f"no server can move behind sayso ({why})", where=str(place.path))
