"""Excerpts of large values for people and the log, with a count of the rest."""

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final, cast

from sayso.schema.compact import write_json
from sayso.schema.redaction import MASK

MAX_KEPT_CHARACTERS: Final = 65_536
"""The limit of arguments in one record or question, as compact JSON."""
MAX_EXCERPT_CHARACTERS: Final = 20_000
"""The approximate size of an excerpt."""
_MAX_EXCERPT_ITEMS: Final = 200
_MAX_TEXT_CHARACTERS: Final = 4_096
_MAX_NAME_CHARACTERS: Final = 256
_MAX_DEPTH: Final = 32
_OVERHEAD: Final = 4
"""The overhead of a value: quotes, a comma, a colon."""


def bounded(value: Any, limit: int = MAX_KEPT_CHARACTERS) -> Any:
    """Return JSON `value`, cut to about `limit` characters.

    Each cut states how much is missing and contains the mask, so that no one can edit the cut value
    and send it. The digest of a call covers the uncut arguments.

    >>> bounded({"text": "a" * 100}, limit=50)["text"]
    'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa••• (62 more characters)'
    """
    if len(write_json(value)) <= limit:
        return value
    return _Cutter(limit).cut(value, 0)


def excerpt(value: Mapping[str, Any]) -> dict[str, Any]:
    """Return the beginning of a JSON object, with at most 200 items per list or object.

    Cut as by `bounded`, in one pass that stops at the limit.

    >>> excerpt({"ids": list(range(300))})["ids"][200:]
    ['••• (100 more items)']
    """
    return _Cutter(MAX_EXCERPT_CHARACTERS, _MAX_EXCERPT_ITEMS).cut(value, 0)


class _Cutter:
    def __init__(self, limit: int, max_items: float = math.inf) -> None:
        self.room = limit
        self.max_items = max_items

    def cut(self, value: Any, depth: int) -> Any:
        self.room -= _OVERHEAD
        if isinstance(value, str):
            return self._text(value, min(_MAX_TEXT_CHARACTERS, self.room))
        if isinstance(value, Mapping):
            return self._mapping(cast("Mapping[str, Any]", value), depth)
        if isinstance(value, Sequence):
            return self._list(cast("Sequence[Any]", value), depth)
        self.room -= _OVERHEAD
        return value

    def _text(self, text: str, limit: int) -> str:
        kept = text[: max(limit, 0)]
        self.room -= len(kept)
        missing = len(text) - len(kept)
        if not missing:
            return text
        return f"{kept}{MASK} ({missing:,} more characters)"

    def _mapping(self, value: Mapping[str, Any], depth: int) -> dict[str, Any]:
        excerpt: dict[str, Any] = {}
        for count, (key, member) in enumerate(value.items()):
            if self._is_full(count, depth):
                excerpt[_unused(MASK, excerpt)] = f"{len(value) - count:,} more fields"
                break
            # Names are kept even if nothing else fits: secrets are masked by them.
            name = _unused(self._text(key, _MAX_NAME_CHARACTERS), excerpt)
            excerpt[name] = self.cut(member, depth + 1)
        return excerpt

    def _list(self, value: Sequence[Any], depth: int) -> list[Any]:
        excerpt: list[Any] = []
        for count, item in enumerate(value):
            if self._is_full(count, depth):
                excerpt.append(f"{MASK} ({len(value) - count:,} more items)")
                break
            excerpt.append(self.cut(item, depth + 1))
        return excerpt

    def _is_full(self, count: int, depth: int) -> bool:
        return self.room <= 0 or depth >= _MAX_DEPTH or count >= self.max_items


def _unused(name: str, names: Collection[str]) -> str:
    """Return an unused name, so that two names with the same beginning do not collide."""
    if name not in names:
        return name
    number = len(names)
    while (marked := f"{name}{MASK}{number}") in names:
        number += 1
    return marked
