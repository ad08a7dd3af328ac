"""Form fields made from a tool's input schema (JSON Schema 2020-12).

Schemas without a matching field become JSON fields, so every valid value can be entered.
"""

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, cast

from sayso.schema import MASK, redact

_DEEPEST: Final = 3
"""The maximum nesting of groups; deeper values are entered as JSON."""

_MOST: Final = 120
"""The maximum number of fields; larger schemas are entered as JSON."""

_SHORT_TEXT: Final = 120
_EMPTY: Final[tuple[object, ...]] = ("", [], {})
_MOST_CHOICES: Final = 200
_MOST_REFERENCES: Final = 8
_LONGEST_TEXT: Final = 2000

_ODD: Final = re.compile(r"[^!-~]")

Json = Mapping[str, Any]


class Kind(StrEnum):
    """The kind of a field: `lines` is a list with one item per line, `many` a list of choices."""

    TEXT = "text"
    LONG = "long"
    SECRET = "secret"  # noqa: S105 - the kind of field that hides what is typed
    NUMBER = "number"
    INTEGER = "integer"
    BOOLEAN = "boolean"
    CHOICE = "choice"
    MANY = "many"
    LINES = "lines"
    DATE = "date"
    DATE_TIME = "date-time"
    TIME = "time"
    GROUP = "group"
    JSON = "json"


@dataclass(frozen=True, slots=True)
class Field:
    """A field, or a group of fields.

    `path` is the place of its value. `about` is the schema's description, `limits` are the
    constraints in words. A choice has `choices`; a list has items of the kind `item`.
    """

    path: tuple[str, ...]
    kind: Kind
    about: str = ""
    limits: tuple[str, ...] = ()
    is_required: bool = False
    choices: tuple[Any, ...] = ()
    item: Kind = Kind.TEXT
    fields: "tuple[Field, ...]" = ()
    type_: str = ""

    @property
    def name(self) -> str:
        return self.path[-1] if self.path else ""

    @property
    def key(self) -> str:
        """The field's name in the form: a JSON pointer (RFC 6901) in ASCII."""
        return pointer(self.path)

    @property
    def must(self) -> str:
        if not self.limits:
            return ""
        text = "; ".join(self.limits)
        return f"{text[:1].upper()}{text[1:]}."

    @property
    def where(self) -> str:
        return ".".join(self.path)


WHOLE: Final = (Field((), Kind.JSON, is_required=True, type_="object"),)
"""A single field for all arguments."""


def pointer(path: tuple[str, ...]) -> str:
    """Return the JSON pointer of a path, in ASCII for use as a form field's name; `/` for all.

    >>> pointer(("a/b", "é"))
    '/a~1b/~xe9;'
    """
    parts = (name.replace("~", "~0").replace("/", "~1") for name in path)
    return "/" + "/".join(_ODD.sub(lambda odd: f"~x{ord(odd[0]):x};", part) for part in parts)


def fields_of(schema: Json | None) -> tuple[Field, ...]:
    """Return the fields for a tool's arguments; a single JSON field if others are not possible."""
    whole = schema or {}
    top = _resolved(whole, whole)
    with suppress(_TooManyError):
        fields = _group((), top, _Root(whole), 0)
        if fields is not None:
            return fields
    return WHOLE


class _TooManyError(Exception):
    """A form would have too many fields."""


@dataclass(slots=True)
class _Root:
    """The root schema for references, and the number of fields that may still be made.

    Fields are counted before they are made, because references can produce any number of them.
    """

    schema: Json
    room: int = _MOST

    def take(self, count: int) -> None:
        """Reserve fields. Raises `_TooManyError`."""
        self.room -= count
        if self.room < 0:
            raise _TooManyError


def flat(fields: tuple[Field, ...]) -> Iterator[Field]:
    """Yield all fields. The fields of a group follow the group."""
    for entry in fields:
        yield entry
        yield from flat(entry.fields)


def _group(
    path: tuple[str, ...], schema: Json, root: _Root, depth: int
) -> tuple[Field, ...] | None:
    """Return the fields of an object; `None` if its schema does not name all members."""
    named = schema.get("properties")
    if named is None and path == () and not _is_open(schema):
        return ()
    if not isinstance(named, Mapping) or _is_open(schema):
        return None
    root.take(len(cast("Mapping[str, Any]", named)))
    required: Any = schema.get("required")
    if not _is_list_of_text(required):
        required = ()
    return tuple(
        _field((*path, name), member, root, depth, is_required=name in required)
        for name, member in cast("Mapping[str, Any]", named).items()
    )


def _is_open(schema: Json) -> bool:
    """Return whether an object may have unnamed members or alternative schemas."""
    more = schema.get("additionalProperties")
    if isinstance(more, Mapping):
        return True
    return any(key in schema for key in ("anyOf", "oneOf", "allOf", "if", "patternProperties"))


def _field(
    path: tuple[str, ...], schema: object, root: _Root, depth: int, *, is_required: bool
) -> Field:
    if not isinstance(schema, Mapping):
        return Field(path, Kind.JSON, is_required=is_required, type_="any")
    resolved = _resolved(cast("Json", schema), root.schema)
    kind = _kind_of(path[-1], resolved)
    fields: tuple[Field, ...] = ()
    item = Kind.TEXT
    if kind is Kind.GROUP:
        if depth < _DEEPEST:
            fields = _group(path, resolved, root, depth + 1) or ()
        if not fields:
            kind = Kind.JSON
    if kind is Kind.LINES:
        kind, item, choices = _list_of(resolved, root.schema)
    else:
        choices = _choices(resolved)
    return Field(
        path,
        kind,
        about=_about(path[-1], resolved),
        limits=tuple(_limits(resolved)),
        is_required=is_required,
        choices=choices,
        item=item,
        fields=fields,
        type_=_type_words(resolved),
    )


def _list_of(schema: Json, root: Json) -> tuple[Kind, Kind, tuple[Any, ...]]:
    items: object = schema.get("items")
    if not isinstance(items, Mapping) or "prefixItems" in schema:
        return Kind.JSON, Kind.TEXT, ()
    resolved = _resolved(cast("Json", items), root)
    kind = _kind_of("", resolved)
    if kind is Kind.CHOICE:
        return Kind.MANY, kind, _choices(resolved)
    if kind in (Kind.TEXT, Kind.LONG, Kind.NUMBER, Kind.INTEGER, Kind.DATE):
        return Kind.LINES, kind, ()
    return Kind.JSON, Kind.TEXT, ()


def _kind_of(name: str, schema: Json) -> Kind:
    if _choices(schema):
        return Kind.CHOICE
    plain = {
        "boolean": Kind.BOOLEAN,
        "integer": Kind.INTEGER,
        "number": Kind.NUMBER,
        "array": Kind.LINES,
        "object": Kind.GROUP,
    }
    type_ = schema.get("type")
    if type_ == "string":
        return _kind_of_text(name, schema)
    return plain.get(str(type_), Kind.JSON)


def _kind_of_text(name: str, schema: Json) -> Kind:
    format_ = schema.get("format")
    if format_ == "password" or redact({name: "…"})[name] == MASK:
        return Kind.SECRET
    if format_ in ("date", "date-time", "time"):
        return Kind(format_)
    limit = schema.get("maxLength")
    if isinstance(format_, str) or (isinstance(limit, int) and limit <= _SHORT_TEXT):
        return Kind.TEXT
    return Kind.LONG


def _choices(schema: Json) -> tuple[Any, ...]:
    if "const" in schema:
        return (schema["const"],)
    values: object = schema.get("enum")
    if not isinstance(values, list):
        return ()
    choices = tuple(cast("list[Any]", values))
    return choices if len(choices) <= _MOST_CHOICES else ()


def _resolved(schema: Json, root: Json) -> Json:
    """Return a schema with references resolved, and nullable types simplified."""
    for _ in range(_MOST_REFERENCES):
        if isinstance(reference := schema.get("$ref"), str):
            target = _at(root, reference)
            if target is None:
                return schema
            schema = {**target, **{key: value for key, value in schema.items() if key != "$ref"}}
        elif (only := _only(schema)) is not None:
            schema = only
        else:
            break
    return schema


def _only(schema: Json) -> Json | None:
    """Return the only non-null alternative of a schema, merged with the rest of it."""
    declared: object = schema.get("type")
    if isinstance(declared, list):
        types = [kind for kind in cast("list[Any]", declared) if kind != "null"]
        return {**schema, "type": types[0]} if len(types) == 1 else None
    for key in ("anyOf", "oneOf", "allOf"):
        options: object = schema.get(key)
        if isinstance(options, list):
            alternatives = [
                cast("Json", option)
                for option in cast("list[Any]", options)
                if isinstance(option, Mapping) and cast("Json", option).get("type") != "null"
            ]
            is_whole = key != "allOf" or len(alternatives) == len(cast("list[Any]", options))
            if len(alternatives) == 1 and is_whole:
                around = {name: value for name, value in schema.items() if name != key}
                return {**alternatives[0], **around}
    return None


def _at(root: Json, reference: str) -> Json | None:
    if not reference.startswith("#/"):
        return None
    place: Any = root
    for part in reference[2:].split("/"):
        name = part.replace("~1", "/").replace("~0", "~")
        place = cast("Json", place).get(name) if isinstance(place, Mapping) else None
    return cast("Json", place) if isinstance(place, Mapping) else None


def _about(name: str, schema: Json) -> str:
    text = schema.get("description")
    if not isinstance(text, str):
        text = schema.get("title")
        if not isinstance(text, str) or _bare(text) == _bare(name):
            return ""
    return text.strip()[:_LONGEST_TEXT]


def _bare(text: str) -> str:
    return "".join(char for char in text.casefold() if char.isalnum())


def _limits(schema: Json) -> Iterator[str]:
    words = {
        "minLength": "at least {} characters",
        "maxLength": "at most {} characters",
        "minimum": "at least {}",
        "exclusiveMinimum": "more than {}",
        "maximum": "at most {}",
        "exclusiveMaximum": "less than {}",
        "multipleOf": "a multiple of {}",
        "minItems": "at least {} items",
        "maxItems": "at most {} items",
    }
    for key, phrase in words.items():
        value = schema.get(key)
        if isinstance(value, int | float) and not isinstance(value, bool):
            yield phrase.format(value)
    if isinstance(pattern := schema.get("pattern"), str):
        yield f"fits {pattern[:_SHORT_TEXT]}"
    if isinstance(format_ := schema.get("format"), str):
        yield f"as {format_[:_SHORT_TEXT]}"
    if (default := schema.get("default")) is not None:
        shown = json.dumps(default, ensure_ascii=False)[:_SHORT_TEXT]
        if default in _EMPTY:
            shown = "empty"
        yield f"{shown} if left out"


def _type_words(schema: Json) -> str:
    declared: object = schema.get("type")
    known = {"string": "text", "array": "list", "boolean": "yes or no", "integer": "whole number"}
    types = [declared]
    if isinstance(declared, list):
        types = cast("list[Any]", declared)
    words = [known.get(kind, kind) for kind in types if isinstance(kind, str)]
    return " or ".join(words) or "any"


def _is_list_of_text(value: object) -> bool:
    return isinstance(value, list) and all(
        isinstance(item, str) for item in cast("list[Any]", value)
    )
