"""Arguments as they are kept: whole if they are small, else their head with what was cut."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

from sayso.schema.compact import write_json
from sayso.schema.redaction import MASK

MAX_KEPT_CHARACTERS: Final = 65_536
"""What one record or question keeps of a call's arguments, as compact JSON."""
_MAX_TEXT_CHARACTERS: Final = 4_096
_MAX_NAME_CHARACTERS: Final = 256
_MAX_DEPTH: Final = 32
_OVERHEAD: Final = 4
"""Characters that a value costs beside its own: quotes, a comma, a colon."""


def bounded(value: Any, limit: int = MAX_KEPT_CHARACTERS) -> Any:
    """Return JSON `value`, cut to about `limit` characters if it is larger.

    Each cut says how much is missing, and holds the mask, so that no edit can be made of it. The
    digest of a call covers all of its arguments.

    >>> bounded({"text": "a" * 100}, limit=50)["text"]
    'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa••• (62 more characters)'
    """
    if len(write_json(value)) <= limit:
        return value
    return _Cutter(limit).cut(value, 0)


class _Cutter:
    """Walks a value once, in order, until its room is used up."""

    def __init__(self, limit: int) -> None:
        self.room = limit

    def cut(self, value: Any, depth: int) -> Any:
        self.room -= _OVERHEAD
        if isinstance(value, str):
            return self._text(value, _MAX_TEXT_CHARACTERS)
        if isinstance(value, Mapping):
            return self._mapping(cast("Mapping[str, Any]", value), depth)
        if isinstance(value, Sequence):
            return self._list(cast("Sequence[Any]", value), depth)
        self.room -= _OVERHEAD
        return value

    def _text(self, text: str, longest: int) -> str:
        kept = text[: max(min(longest, self.room), 0)]
        self.room -= len(kept)
        left = len(text) - len(kept)
        return f"{kept}{MASK} ({left:,} more characters)" if left else text

    def _mapping(self, value: Mapping[str, Any], depth: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for count, (key, one) in enumerate(value.items()):
            if self.room <= 0 or depth >= _MAX_DEPTH:
                found[MASK] = f"{len(value) - count:,} more fields"
                break
            name = self._text(key, _MAX_NAME_CHARACTERS)
            found[name] = self.cut(one, depth + 1)
        return found

    def _list(self, value: Sequence[Any], depth: int) -> list[Any]:
        found: list[Any] = []
        for count, one in enumerate(value):
            if self.room <= 0 or depth >= _MAX_DEPTH:
                found.append(f"{MASK} ({len(value) - count:,} more items)")
                break
            found.append(self.cut(one, depth + 1))
        return found
