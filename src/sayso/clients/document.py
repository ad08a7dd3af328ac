"""A client's configuration file: its bytes, and the positions of its servers."""

import codecs
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from sayso.errors import ConfigError
from sayso.settings import JsonFile, parse_json, text_of, type_name


def as_object(value: object) -> Mapping[str, Any]:
    """Return `value` if it is an object, else an empty one."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def as_list(value: object) -> list[Any]:
    """Return `value` if it is a list, else an empty one."""
    return cast("list[Any]", value) if isinstance(value, list) else []


@dataclass(frozen=True, slots=True)
class Document:
    """A file's bytes, parsed as JSON.

    `text` lacks the byte order mark; `file.text` has blanks for comments, at the same offsets.
    """

    path: str
    data: bytes = field(repr=False)
    text: str = field(repr=False)
    file: JsonFile = field(repr=False)

    @classmethod
    def of(cls, path: str, data: bytes) -> "Document":
        """Parse `data`; raise `ConfigError` with the position of the first mistake."""
        text = text_of(path, data)
        return cls(path, data, text, parse_json(path, text))

    def servers(self, steps: tuple[str, ...]) -> Mapping[str, Any]:
        """Return the servers at `steps`; none if a key is missing.

        Raises `ConfigError` if a value on the path is not an object.
        """
        value = self._object(self.file.value, "a configuration must be an object", ())
        for at, step in enumerate(steps, 1):
            value = self._object(value.get(step, {}), f"“{step}” must be an object", steps[:at])
        return value

    def _object(self, value: object, what: str, steps: tuple[str, ...]) -> Mapping[str, Any]:
        if not isinstance(value, dict):
            where = self.file.where(*steps)
            raise ConfigError(f"{what}, not {type_name(value)}", where=where, fix="Fix the file.")
        return cast("dict[str, Any]", value)

    def with_text(self, text: str) -> "Document":
        """Return the document with another text, keeping a byte order mark."""
        data = text.encode()
        if self.data.startswith(codecs.BOM_UTF8):
            data = codecs.BOM_UTF8 + data
        return Document.of(self.path, data)
