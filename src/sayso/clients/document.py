"""A client's configuration file, as bytes and as JSON."""

import codecs
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from sayso.errors import ConfigError
from sayso.settings import JsonFile, parse_json, text_of, type_name


def as_object(value: object) -> Mapping[str, Any]:
    """Return `value` if it is a JSON object, else an empty object."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def as_list(value: object) -> list[Any]:
    """Return `value` if it is a list, else an empty list."""
    return cast("list[Any]", value) if isinstance(value, list) else []


@dataclass(frozen=True, slots=True)
class Document:
    """A configuration file: its path, its bytes, and the parsed JSON.

    `text` is without the byte order mark; `file.text` has blanks in place of comments.
    """

    path: str
    data: bytes = field(repr=False)
    text: str = field(repr=False)
    file: JsonFile = field(repr=False)

    @classmethod
    def of(cls, path: str, data: bytes) -> "Document":
        """Parse `data`. Raises `ConfigError` with the position of the first mistake."""
        text = text_of(path, data)
        return cls(path, data, text, parse_json(path, text))

    def servers(self, steps: tuple[str, ...]) -> Mapping[str, Any]:
        """Return the servers at the path `steps`, or an empty object if a key is missing.

        Raises `ConfigError` if a value along the path is not an object.
        """
        value = self._object(self.file.value, "a configuration must be an object", ())
        for at, step in enumerate(steps, 1):
            value = self._object(value.get(step, {}), f"“{step}” must be an object", steps[:at])
        return value

    def _object(self, value: object, what: str, steps: tuple[str, ...]) -> Mapping[str, Any]:
        if not isinstance(value, dict):
            where = self.file.where(*steps)
            raise ConfigError(f"{what}, not {type_name(value)}", where=where, fix="Correct it.")
        return cast("dict[str, Any]", value)

    def with_text(self, text: str) -> "Document":
        """Return a document with this text; if this one has a byte order mark, keep the mark."""
        data = text.encode()
        if self.data.startswith(codecs.BOM_UTF8):
            data = codecs.BOM_UTF8 + data
        return Document.of(self.path, data)
