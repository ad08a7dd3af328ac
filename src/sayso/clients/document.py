"""A client's configuration as it stands on disk: every byte, and where its servers stand."""

import codecs
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from sayso.errors import ConfigError
from sayso.settings import JsonFile, parse_json, text_of, type_name


def as_object(value: object) -> Mapping[str, Any]:
    """`value` where it is an object, else an empty one."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


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
        """The servers that `steps` lead to; none where a key on the way is missing.

        Raises `ConfigError` where something else than an object stands on the way.
        """
        value: object = self.file.value
        for at, step in enumerate((None, *steps)):
            found = value if step is None else cast("dict[str, object]", value).get(step, {})
            if not isinstance(found, dict):
                what = (
                    f"“{step}” must be an object, not {type_name(found)}"
                    if step
                    else (f"a configuration is an object, not {type_name(found)}")
                )
                raise ConfigError(what, where=self.file.where(*steps[:at]), fix="Mend the file.")
            value = cast("object", found)
        return cast("dict[str, Any]", value)

    def with_text(self, text: str) -> "Document":
        """The same file with another text: its byte order mark stays."""
        mark = codecs.BOM_UTF8 if self.data.startswith(codecs.BOM_UTF8) else b""
        return Document.of(self.path, mark + text.encode())
