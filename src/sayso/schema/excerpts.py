"""An excerpt of a large JSON value, for people and for the log."""

from collections.abc import Mapping
from typing import Any, Final, cast

from sayso.schema.redaction import MASK

MAX_CHARACTERS: Final = 20_000
"""Of one excerpt, more or less."""

_MAX_TEXT: Final = 4_000
_MAX_ITEMS: Final = 200
_MAX_DEPTH: Final = 32


def excerpt(value: Mapping[str, Any]) -> dict[str, Any]:
    """Return the beginning of an object of JSON; what is left out is counted in its place.

    The places hold the mask of redaction too, so that nobody takes them for the value itself.

    >>> excerpt({"ids": list(range(300))})["ids"][200:]
    ['••• 100 more items']
    """
    return _Excerpt().mapping(value, 0)


class _Excerpt:
    """One excerpt in the making, with the characters that are left for it."""

    def __init__(self) -> None:
        self._left = MAX_CHARACTERS

    def mapping(self, value: Mapping[str, Any], depth: int) -> dict[str, Any]:
        made: dict[str, Any] = {}
        for name, one in value.items():
            if self._is_full(len(made), depth):
                made[MASK] = f"{len(value) - len(made)} more members"
                break
            key = name if len(name) <= _MAX_TEXT else f"{name[:_MAX_TEXT]}{MASK}"
            self._left -= len(key)
            made[key] = self._value(one, depth + 1)
        return made

    def _value(self, value: Any, depth: int) -> Any:
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, Mapping):
            return self.mapping(cast("Mapping[str, Any]", value), depth)
        if isinstance(value, list | tuple):
            return self._list(cast("list[Any]", value), depth)
        self._left -= 8
        return value

    def _list(self, value: list[Any], depth: int) -> list[Any]:
        made: list[Any] = []
        for one in value:
            if self._is_full(len(made), depth):
                made.append(f"{MASK} {len(value) - len(made)} more items")
                break
            made.append(self._value(one, depth + 1))
        return made

    def _text(self, text: str) -> str:
        room = max(min(_MAX_TEXT, self._left), 0)
        self._left -= min(len(text), room) + 8
        if len(text) <= room:
            return text
        return f"{text[:room]}{MASK} {len(text) - room} more characters"

    def _is_full(self, count: int, depth: int) -> bool:
        self._left -= 4
        return count >= _MAX_ITEMS or self._left <= 0 or depth > _MAX_DEPTH
