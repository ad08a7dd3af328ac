"""What changed between two looks at the state, in words."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

Looks = tuple[Any, ...]
"""What each probe gave, in order; a mapping holds records by their name."""

_MOST_SHOWN: Final = 5


def difference(before: Looks, after: Looks) -> str:
    """In words, what changed between two looks; empty where nothing did."""
    found: list[str] = []
    for was, now in zip(before, after, strict=True):
        if was == now:
            continue
        if not (isinstance(was, Mapping) and isinstance(now, Mapping)):
            found.append("the state was changed")
            continue
        old = cast("Mapping[Any, Any]", was)
        new = cast("Mapping[Any, Any]", now)
        for word, names in (
            ("made", [name for name in new if name not in old]),
            ("removed", [name for name in old if name not in new]),
            ("changed", [name for name in new if name in old and new[name] != old[name]]),
        ):
            if names:
                found.append(f"{word} {_few(names)}")
    return " and ".join(found)


def lost_between(before: Looks, after: Looks) -> str:
    """The records that are gone, as far as the probes tell records apart."""
    gone: list[Any] = []
    for was, now in zip(before, after, strict=True):
        if isinstance(was, Mapping) and isinstance(now, Mapping):
            gone += [name for name in cast("Mapping[Any, Any]", was) if name not in now]
    return _few(gone)


def _few(names: Sequence[Any]) -> str:
    shown = ", ".join(str(name) for name in names[:_MOST_SHOWN])
    if len(names) > _MOST_SHOWN:
        shown += f" and {len(names) - _MOST_SHOWN} more"
    return shown
