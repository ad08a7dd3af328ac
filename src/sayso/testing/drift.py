"""What changed between two surfaces: what permits more, and all else."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from sayso.intent import HINT_NAMES, LOOSER, WIRE_NAMES, HintName, default_for
from sayso.testing.widening import widened

Entry = Mapping[str, Any]


@dataclass(slots=True)
class Drift:
    """Changes in words: those that loosen, and those that do not."""

    loosened: list[str] = field(default_factory=list[str])
    others: list[str] = field(default_factory=list[str])


def drift_between(old: Mapping[str, Entry], new: Mapping[str, Entry]) -> Drift:
    """What changed from `old` to `new`, tools by their name."""
    found = Drift()
    for name in sorted({*old, *new}):
        if name not in old:
            found.loosened.append(f"{name}: is new ({new[name]['level']}), and not recorded")
        elif name not in new:
            found.others.append(f"{name}: is gone")
        else:
            for text, is_looser in _changes(old[name], new[name]):
                changes = found.loosened if is_looser else found.others
                changes.append(f"{name}: {text}")
    return found


def _changes(old: Entry, new: Entry) -> Iterator[tuple[str, bool]]:
    if old["title"] != new["title"]:
        yield f"its title was {old['title']!r}, is {new['title']!r}", False
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
        yield f"the scope {scope} was dropped: callers without it see the tool", True
    for scope in sorted({*new["scopes"]} - {*old["scopes"]}):
        yield f"the scope {scope} was added", False


def _roles(old: Entry, new: Entry) -> Iterator[tuple[str, bool]]:
    """Any one role is enough, so one more loosens; without any, nobody needs one."""
    before = {*old["roles"]}
    now = {*new["roles"]}
    if before and not now:
        yield f"the role {' or '.join(sorted(before))} is not needed any more", True
    for role in sorted(now - before):
        yield f"the role {role} was added", bool(before)
    if now:
        for role in sorted(before - now):
            yield f"the role {role} was dropped", False


def _schema(key: str, old: Entry, new: Entry) -> Iterator[tuple[str, bool]]:
    before = old[key]
    now = new[key]
    if before == now:
        return
    if before is None:
        yield f"its {key} schema is new", False
        return
    if now is None:
        yield f"its {key} schema is gone", True
        return
    wider = list(widened(before["schema"], now["schema"]))
    for change in wider:
        yield f"its {key} widened: {change}", True
    if before["schema"] == now["schema"]:
        yield f"its {key} schema has other words", False
    elif not wider:
        yield f"its {key} schema takes less", False


def _said(value: bool | None) -> str:  # noqa: FBT001 - a hint's value is what it is about
    return "not declared" if value is None else str(value).lower()
