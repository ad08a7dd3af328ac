"""Changes between two recorded surfaces: those that loosen, and the others."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from sayso.intent import HINT_NAMES, LOOSER, WIRE_NAMES, HintName, default_for
from sayso.testing.widening import widened

Entry = Mapping[str, Any]


@dataclass(slots=True)
class Drift:
    """Descriptions of changes: those that loosen, and the others."""

    loosened: list[str] = field(default_factory=list[str])
    others: list[str] = field(default_factory=list[str])


def drift_between(old: Mapping[str, Entry], new: Mapping[str, Entry]) -> Drift:
    """Return the changes from `old` to `new`, which hold tools by name."""
    drift = Drift()
    for name in sorted({*old, *new}):
        if name not in old:
            drift.loosened.append(f"{name}: new ({new[name]['level']}), not recorded")
        elif name not in new:
            drift.others.append(f"{name}: removed")
        else:
            for text, is_looser in _changes(old[name], new[name]):
                changes = drift.loosened if is_looser else drift.others
                changes.append(f"{name}: {text}")
    return drift


def _changes(old: Entry, new: Entry) -> Iterator[tuple[str, bool]]:
    if old["title"] != new["title"]:
        yield f"title was {old['title']!r}, is {new['title']!r}", False
    for name in HINT_NAMES:
        yield from _hint(name, old, new)
    yield from _scopes(old, new)
    yield from _roles(old, new)
    for key in ("input", "output"):
        yield from _schema(key, old, new)


def _hint(name: HintName, old: Entry, new: Entry) -> Iterator[tuple[str, bool]]:
    before = old["hints"][name]
    now = new["hints"][name]
    if before is now:
        return
    value = default_for(name, now)
    word = "changed"
    if default_for(name, before) is not value:
        word = "loosened" if value is LOOSER[name] else "tightened"
    text = f"{WIRE_NAMES[name]} {word}: was {_said(before)}, is {_said(now)}"
    if old["level"] != new["level"]:
        text += f" (level {old['level']} → {new['level']})"
    yield text, word == "loosened"


def _scopes(old: Entry, new: Entry) -> Iterator[tuple[str, bool]]:
    for scope in sorted({*old["scopes"]} - {*new["scopes"]}):
        yield f"scope {scope} removed: callers without it see the tool", True
    for scope in sorted({*new["scopes"]} - {*old["scopes"]}):
        yield f"scope {scope} added", False


def _roles(old: Entry, new: Entry) -> Iterator[tuple[str, bool]]:
    """Yield the changes of roles; one role suffices, so another one loosens."""
    before = {*old["roles"]}
    now = {*new["roles"]}
    if before and not now:
        yield f"role {' or '.join(sorted(before))} no longer required", True
    for role in sorted(now - before):
        yield f"role {role} added", bool(before)
    if now:
        for role in sorted(before - now):
            yield f"role {role} removed", False


def _schema(key: str, old: Entry, new: Entry) -> Iterator[tuple[str, bool]]:
    before = old[key]
    now = new[key]
    if before == now:
        return
    if before is None:
        yield f"{key} schema added", False
        return
    if now is None:
        yield f"{key} schema removed", True
        return
    wider = list(widened(before["schema"], now["schema"]))
    for change in wider:
        yield f"{key} schema widened: {change}", True
    if before["schema"] == now["schema"]:
        yield f"texts of the {key} schema changed", False
    elif not wider:
        yield f"{key} schema narrowed", False


def _said(value: bool | None) -> str:  # noqa: FBT001 - the value of a hint
    return "not declared" if value is None else str(value).lower()
