"""Validation of dataclass fields: convert valid values, and reject others with an error.

A frozen dataclass calls `convert` in its `__post_init__` with one reader per field. A reader
returns the converted value, or raises `UnfitError` with the rest of the message, as "must be …".
"""

import math
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from enum import StrEnum
from typing import Any, Final, TypeGuard, cast

from sayso.errors import UsageError

Reader = Callable[[Any], Any]

MAX_SHOWN_CHARACTERS: Final = 80


class UnfitError(ValueError):
    """An invalid value of a field; `convert` puts the field's name before the text."""


def convert(owner: object, /, **readers: Reader) -> None:
    """Replace fields of a frozen object by the results of their readers.

    Raises `UsageError` with the field, the requirement and the invalid value.
    """
    for name, reader in readers.items():
        value = getattr(owner, name)
        try:
            converted = reader(value)
        except UnfitError as error:
            what = f"{name} {error}, got {_shown(value)}"
            raise UsageError(what, where=type(owner).__name__) from None
        if converted is not value:
            object.__setattr__(owner, name, converted)


def _checked(is_fit: Callable[[Any], bool], message: str) -> Reader:
    """Return a reader that accepts the values for which `is_fit` is true."""

    def read(value: Any) -> Any:
        if not is_fit(value):
            raise UnfitError(message)
        return value

    return read


boolean: Final = _checked(lambda value: isinstance(value, bool), "must be True or False")
text: Final = _checked(lambda value: isinstance(value, str), "must be a text")
function: Final = _checked(callable, "must be a function")


def choice(kind: type[StrEnum]) -> Reader:
    """Return a reader for one value of `kind`, or its text."""
    known = one_of(*kind)

    def read(value: Any) -> StrEnum:
        return kind(known(value))

    return read


def one_of(*words: str) -> Reader:
    """Return a reader for one of these texts."""
    message = f"must be one of {', '.join(words)}"
    return _checked(lambda value: isinstance(value, str) and value in words, message)


def optional(reader: Reader) -> Reader:
    """Return a reader that also accepts `None`."""

    def read(value: Any) -> Any:
        try:
            return None if value is None else reader(value)
        except UnfitError as error:
            message = f"{error}, or None"
            raise UnfitError(message) from None

    return read


def instance(*kinds: type, article: str = "a") -> Reader:
    """Return a reader for objects of these classes."""
    message = f"must be {article} {' or '.join(kind.__name__ for kind in kinds)}"
    return _checked(lambda value: isinstance(value, kinds), message)


def is_number(value: object) -> TypeGuard[int | float]:
    """Return whether a value is a number (not a boolean) within the range of a float.

    >>> is_number(7), is_number(True), is_number(float("nan")), is_number(10**400)
    (True, False, False, False)
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return abs(value) <= sys.float_info.max


def number(least: float = -math.inf, most: float = math.inf) -> Reader:
    """Return a reader for a finite number within these bounds."""
    message = f"must be a number{_bounds(least, most)}"
    return _checked(lambda value: is_number(value) and least <= value <= most, message)


def whole(least: int, most: float = math.inf) -> Reader:
    """Return a reader for a whole number within these bounds."""

    def is_fit(value: Any) -> bool:
        is_whole = isinstance(value, int) and not isinstance(value, bool)
        return is_whole and least <= value <= most

    return _checked(is_fit, f"must be a whole number{_bounds(least, most)}")


def texts(value: Any) -> frozenset[str]:
    """Read a set of texts; reject a single text, which would become a set of letters."""
    return frozenset(_collection(value, text, "must be a set of texts"))


def subset(*words: str) -> Reader:
    """Return a reader for a set of these texts."""
    message = f"must be a set of {', '.join(words)}"

    def read(value: Any) -> frozenset[str]:
        return frozenset(_collection(value, one_of(*words), message))

    return read


def many(reader: Reader, what: str) -> Reader:
    """Return a reader for a tuple with `reader` for each item; `what` names the items."""

    def read(value: Any) -> tuple[Any, ...]:
        return tuple(_collection(value, reader, f"must be a tuple of {what}", is_ordered=True))

    return read


def table(key: Reader, item: Reader, what: str) -> Reader:
    """Return a reader for a mapping; `what` names its keys and values."""

    def read(value: Any) -> Mapping[Any, Any]:
        if not isinstance(value, Mapping):
            message = f"must be a mapping of {what}"
            raise UnfitError(message)
        pairs = cast("Mapping[Any, Any]", value).items()
        try:
            return {key(name): item(inner) for name, inner in pairs}
        except UnfitError as error:
            message = f"must be a mapping of {what}: an entry {error}"
            raise UnfitError(message) from None

    return read


def _collection(value: Any, reader: Reader, message: str, *, is_ordered: bool = False) -> list[Any]:
    kind = Sequence if is_ordered else Collection
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, kind):
        raise UnfitError(message)
    try:
        return [reader(item) for item in cast("Collection[Any]", value)]
    except UnfitError as error:
        words = f"{message}: an item {error}"
        raise UnfitError(words) from None


def _bounds(least: float, most: float) -> str:
    if math.isinf(least) and math.isinf(most):
        return ""
    if math.isinf(most):
        return f" of at least {least:.12g}"
    return f" from {least:.12g} to {most:.12g}"


def _shown(value: Any) -> str:
    words = repr(value)
    is_short = len(words) <= MAX_SHOWN_CHARACTERS
    return words if is_short else f"{words[: MAX_SHOWN_CHARACTERS - 1]}…"
