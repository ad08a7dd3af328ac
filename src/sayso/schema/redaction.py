"""Redaction of secrets in values."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, cast

from sayso.schema.secret_names import is_count, is_secret_name
from sayso.schema.secret_values import MASK, mask_after, mask_start, mask_text

__all__ = ["MASK", "redact", "redact_start"]

MAX_REDACTED_CHARACTERS: Final = 65_536
"""The default limit of `redact`, which takes at most 0.1 s for so much text. The event loop handles
only smaller arguments (`guard.large_arguments`)."""
_PLAIN: Final = (int, float, type(None))
# Keys of an object that represents a field: `{"name": "password", "value": "…"}`.
_NAMING: Final = ("name", "key", "Name", "Key")
_VALUES: Final = ("value", "Value")
_MAX_CACHED_NAME: Final = 64
"""Longer names are not cached, so that they cannot fill the memory."""


def redact(value: Any, limit: int | None = MAX_REDACTED_CHARACTERS) -> Any:
    """Return a copy of JSON `value` with secrets masked, by field name and by form.

    Numbers and booleans under a secret name are masked too; empty values are kept. To bound the
    time, only `limit` characters of text are read. The mask and a count replace the rest. A `limit`
    of `None` means no limit.

    >>> redact({"a": "x" * 90_000, "b": 1})["a"][-29:]
    'x••• (24,466 more characters)'
    """
    return _Redactor(limit).value(value)


def redact_start(text: str, length: int) -> str:
    """Return about the first `length` characters of a text of any size, with secrets masked.

    No part of a secret at the cut is shown.
    """
    return mask_start(text, length)


class _Redactor:
    def __init__(self, limit: int | None) -> None:
        self._room = limit

    def value(self, value: Any) -> Any:
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, _PLAIN):
            return value
        if isinstance(value, Mapping):
            return self._mapping(cast("Mapping[str, Any]", value))
        if isinstance(value, Sequence) and not isinstance(value, bytes):
            return self._list(cast("Sequence[Any]", value))
        return value

    def _is_full(self, cost: int) -> bool:
        """Reserve room for a value of this cost, and return whether none was left."""
        if self._room is None:
            return False
        is_full = self._room <= 0
        self._room -= cost
        return is_full

    def _text(self, text: str) -> str:
        if self._room is None:
            return mask_text(text)
        room = max(self._room, 0)
        self._room -= len(text)
        if len(text) <= room:
            return mask_text(text)
        return f"{mask_start(text, room)}{MASK} ({len(text) - room:,} more characters)"

    def _mapping(self, value: Mapping[str, Any]) -> dict[str, Any]:
        masked: dict[str, Any] = {}
        for name, member in value.items():
            if self._is_full(len(name) + 1):
                masked[MASK] = f"{len(value) - len(masked):,} more fields"
                break
            field_name = _name_of(value) if name in _VALUES else name
            masked[name] = self._field(field_name, member)
        return masked

    def _list(self, value: Sequence[Any]) -> list[Any]:
        masked: list[Any] = []
        before: Any = None
        for item in value:
            if self._is_full(1):
                masked.append(f"{MASK} ({len(value) - len(masked):,} more items)")
                break
            is_word = isinstance(before, str) and isinstance(item, str)
            masked.append(self.value(mask_after(before, item) if is_word else item))
            before = item
        return masked

    def _field(self, name: str, value: Any) -> Any:
        """Return the masked value of a field.

        A secret is one value or a list of values. Objects under a secret name are not masked as a
        whole, since that could hide a call's effect from the person who approves it.
        """
        if not _is_secret(name, value) or isinstance(value, Mapping):
            return self.value(value)
        if isinstance(value, list):
            items = cast("list[Any]", value)
            return [
                self.value(item) if isinstance(item, Mapping | list) else MASK for item in items
            ]
        return MASK


def _name_of(field: Mapping[str, Any]) -> str:
    """Return the secret name in an object that represents a field, or an empty string."""
    for key in _NAMING:
        name = field.get(key)
        if isinstance(name, str) and is_secret_name(name):
            return name
    return ""


def _is_secret(name: str, value: Any) -> bool:
    has_secret_name = _is_secret_name_cached if len(name) <= _MAX_CACHED_NAME else is_secret_name
    return has_secret_name(name) and not is_count(name, value) and value not in (None, "", [], {})


_is_secret_name_cached: Final = lru_cache(2048)(is_secret_name)
