"""Validation against JSON Schema 2020-12, with problems told in words a model can act on."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import jsonschema_rs

from sayso.errors import UsageError

_MOST_PROBLEMS: Final = 20
_LONGEST: Final = 400


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing wrong with a value: `path` is where, such as `items[2].price`; empty at the top."""

    path: str
    message: str

    def __str__(self) -> str:
        """`items[2].price: must be a number`."""
        if not self.path:
            return self.message
        return f"{self.path}: {self.message}"


class Checker:
    """A compiled schema. Compiling is slow and checking is fast, so keep it.

    A `$ref` to another document is never fetched: a server's schema must not make sayso call out.
    Raises `UsageError` for a schema that is none.

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
        """Whether `value` fits the schema."""
        return self._validator.is_valid(value)

    def problems(self, value: Any) -> tuple[Problem, ...]:
        """All that is wrong with `value`, at most 20 problems; none when it fits."""
        found: list[Problem] = []
        if self._validator.is_valid(value):
            return ()
        for error in self._validator.iter_errors(value):
            if len(found) == _MOST_PROBLEMS:
                found.append(Problem("", "and more"))
                break
            found.append(Problem(_short(path_text(error.instance_path)), _short(error.message)))
        return tuple(found)


def _short(text: str) -> str:
    """A problem quotes what is wrong, which may be megabytes; what is wrong stands at its end."""
    if len(text) <= _LONGEST:
        return text
    return f"{text[: _LONGEST // 2]}…{text[-_LONGEST // 2 :]}"


def path_text(parts: Sequence[str | int]) -> str:
    """Return a place in a value as text, such as `items[2].price`."""
    text = ""
    for part in parts:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            text += f".{part}"
    return text.removeprefix(".")
