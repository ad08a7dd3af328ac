"""Validation against JSON Schema 2020-12, with problems in words that a model can act on."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import jsonschema_rs

from sayso.errors import UsageError

_MAX_PROBLEMS: Final = 20
_MAX_MESSAGE: Final = 400


@dataclass(frozen=True, slots=True)
class Problem:
    """One problem of a value; `path` is like `items[2].price`, and empty at the top level."""

    path: str
    message: str

    def __str__(self) -> str:
        """`items[2].price: must be a number`."""
        if not self.path:
            return self.message
        return f"{self.path}: {self.message}"


class Checker:
    """A compiled schema. Compiling is slow and checking is fast, so reuse it.

    A `$ref` to another document is never fetched: a server's schema must not cause requests.
    Raises `UsageError` for an invalid schema.

    >>> Checker({"type": "object", "required": ["id"]}).problems({})
    (Problem(path='', message='"id" is a required property'),)
    """

    def __init__(self, schema: Mapping[str, Any] | bool) -> None:  # noqa: FBT001 - a schema may be a boolean
        try:
            self._validator = jsonschema_rs.validator_for(
                schema if isinstance(schema, bool) else dict(schema), offline=True
            )
        except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError, ValueError) as error:
            first = str(error).splitlines()[0]
            raise UsageError(f"not a JSON Schema: {first}") from error

    def is_valid(self, value: Any) -> bool:
        return self._validator.is_valid(value)

    def problems(self, value: Any) -> tuple[Problem, ...]:
        """Return the first 20 problems of `value`, and then `and more` if there are others."""
        found: list[Problem] = []
        if self._validator.is_valid(value):
            return ()
        for error in self._validator.iter_errors(value):
            if len(found) == _MAX_PROBLEMS:
                found.append(Problem("", "and more"))
                break
            found.append(Problem(_short(path_text(error.instance_path)), _short(error.message)))
        return tuple(found)


def _short(text: str) -> str:
    """Shorten a message that quotes a large value; the problem is at its end."""
    if len(text) <= _MAX_MESSAGE:
        return text
    return f"{text[: _MAX_MESSAGE // 2]}…{text[-_MAX_MESSAGE // 2 :]}"


def path_text(parts: Sequence[str | int]) -> str:
    """Return a place in a value as text, such as `items[2].price`."""
    text = ""
    for part in parts:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            text += f".{part}"
    return text.removeprefix(".")
