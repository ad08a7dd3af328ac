"""A client's configuration as it stands on disk: every byte, and where its servers stand."""

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
    """A file's bytes, read as JSON. Offsets in `text` are those of `file.text`.

    `file.text` has blanks for comments, `text` has all but the byte order mark.
    """

    path: str
    data: bytes = field(repr=False)
    text: str = field(repr=False)
    file: JsonFile = field(repr=False)

    @classmethod
    def of(cls, path: str, data: bytes) -> "Document":
        """Read `data`; raises `ConfigError` with the place of the first mistake."""
        text = text_of(path, data)
        return cls(path, data, text, parse_json(path, text))

    def servers(self, steps: tuple[str, ...]) -> Mapping[str, Any]:
        """Return the servers that `steps` lead to, none if a key on the way is missing.

        Raises `ConfigError` if something on the way is not an object.
        """
        value = self._object(self.file.value, "a configuration is an object", ())
        for at, step in enumerate(steps, 1):
            value = self._object(value.get(step, {}), f"“{step}” must be an object", steps[:at])
        return value

    def _object(self, value: object, what: str, steps: tuple[str, ...]) -> Mapping[str, Any]:
        if not isinstance(value, dict):
            where = self.file.where(*steps)
            raise ConfigError(f"{what}, not {type_name(value)}", where=where, fix="Mend the file.")
        return cast("dict[str, Any]", value)

    def with_text(self, text: str) -> "Document":
        """Return the file with another text; a byte order mark stays."""
        data = text.encode()
        if self.data.startswith(codecs.BOM_UTF8):
            data = codecs.BOM_UTF8 + data
        return Document.of(self.path, data)
