"""Comparison of JSON Schemas, keyword by keyword, for changes that accept more.

Inclusion of schemas is undecidable in general. Here every change that does not clearly accept less
counts as widening; a removed argument narrows.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final, cast

from sayso.schema import canonical

Shape = Mapping[str, Any]
"""A schema without its texts."""

_WORDS: Final = frozenset({"title", "description", "examples", "$comment", "deprecated", "default"})
_LEAST: Final = ("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties")
_MOST: Final = ("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties")
_NAMED: Final = ("properties", "patternProperties", "dependentSchemas")
_ONE_OF: Final = ("anyOf", "oneOf")
_INSIDE: Final = ("items", "additionalProperties", "contains", "propertyNames")
_DEEPEST: Final = 20


def shape_of(schema: Any) -> Any:
    """Return `schema` without its texts, and with its references resolved.

    >>> shape_of({"title": "A", "properties": {"title": {"type": "string", "title": "Title"}}})
    {'properties': {'title': {'type': 'string'}}}
    """
    definitions = _object(_object(schema).get("$defs"))
    return _bare(schema, definitions, ())


def widened(old: Any, new: Any, at: str = "") -> Iterator[str]:
    """Describe each way in which `new` accepts more than `old`.

    >>> list(widened({"type": "integer", "maximum": 50}, {"type": "integer", "maximum": 100}, "n"))
    ['n: maximum was 50, is 100']
    """
    if canonical(old) == canonical(new) or old is True or new is False:
        return
    if old is False or new is True:
        yield _change(at, "accepts anything now" if new is True else "is accepted now")
        return
    for compare in (_type, _values, _bounds, _names, _forms, _parts, _others):
        yield from compare(_object(old), _object(new), at)


def _type(old: Shape, new: Shape, at: str) -> Iterator[str]:
    before = _types(old)
    now = _types(new)
    if before and not now and not any(key in new for key in (*_ONE_OF, "enum", "const", "$ref")):
        yield _change(at, f"was {_listed(before)}, is of any type")
    more = now - before
    if "number" in before:
        more.discard("integer")
    if before and more:
        yield _change(at, f"was {_listed(before)}, also accepts {_listed(more)}")


def _values(old: Shape, new: Shape, at: str) -> Iterator[str]:
    before = _allowed(old)
    now = _allowed(new)
    if before is not None and now is None:
        yield _change(at, "was one of a list of values, accepts any")
    elif before is not None and now is not None and (more := now - before):
        yield _change(at, f"also accepts {', '.join(sorted(more))}")


def _bounds(old: Shape, new: Shape, at: str) -> Iterator[str]:
    for keys, is_looser in ((_LEAST, _is_below), (_MOST, _is_above)):
        for key in keys:
            before = old.get(key)
            now = new.get(key)
            if before is not None and (now is None or is_looser(now, before)):
                limit = "unlimited" if now is None else now
                yield _change(at, f"{key} was {before}, is {limit}")


def _names(old: Shape, new: Shape, at: str) -> Iterator[str]:
    for name in sorted(set(old.get("required") or ()) - set(new.get("required") or ())):
        if name in _object(new.get("properties")):
            yield _change(_at(at, name), "was required, is optional")
    was_closed = old.get("additionalProperties") is False
    if was_closed and new.get("additionalProperties") in (None, True):
        yield _change(at, "accepts unknown names")


def _parts(old: Shape, new: Shape, at: str) -> Iterator[str]:
    for key in _NAMED:
        before = _object(old.get(key))
        now = _object(new.get(key))
        for name in now:
            if name not in before:
                yield _change(_at(at, name), "is new")
            else:
                yield from widened(before[name], now[name], _at(at, name))
    for key in _INSIDE:
        before = old.get(key)
        now = new.get(key)
        where = _at(at, "[]" if key == "items" else key)
        if before is not None and now is not None and before is not True:
            yield from widened(before, now, where)
        elif before not in (None, True, False) and now is None:
            yield _change(where, "accepts anything now")


def _forms(old: Shape, new: Shape, at: str) -> Iterator[str]:
    before = {canonical(form) for key in _ONE_OF for form in old.get(key) or ()}
    now = [form for key in _ONE_OF for form in new.get(key) or ()]
    single = canonical({key: value for key, value in old.items() if key not in _ONE_OF})
    more = [form for form in now if canonical(form) not in before | {single}]
    if before and not now and canonical(_plain(new)) not in before:
        yield _change(at, "was one of several forms, is no longer limited to them")
    elif more and (before or _plain(old)):
        yield _change(at, f"also accepts another form: {canonical(more[0]).decode()[:80]}")


def _others(old: Shape, new: Shape, at: str) -> Iterator[str]:
    """Describe changes of all other keywords, which may accept more."""
    known = {*_LEAST, *_MOST, *_NAMED, *_ONE_OF, *_INSIDE, "type", "enum", "const", "required"}
    for key in sorted(set(old) - known):
        before = old.get(key)
        now = new.get(key)
        if canonical(before) != canonical(now):
            now_is = "gone" if now is None else canonical(now).decode()[:80]
            yield _change(at, f"{key} was {canonical(before).decode()[:80]}, is {now_is}")


def _bare(schema: Any, definitions: Mapping[str, Any], inside: tuple[str, ...]) -> Any:
    if not isinstance(schema, Mapping):
        return schema
    given = cast("Mapping[str, Any]", schema)
    name = str(given.get("$ref", "")).removeprefix("#/$defs/")
    if name in definitions and name not in inside and len(inside) < _DEEPEST:
        rest = {key: value for key, value in given.items() if key != "$ref"}
        return _bare({**_object(definitions[name]), **rest}, definitions, (*inside, name))
    found: dict[str, Any] = {}
    for key, value in given.items():
        if key in _NAMED:
            found[key] = {
                name: _bare(part, definitions, inside) for name, part in _object(value).items()
            }
        elif key == "required" and isinstance(value, list):
            found[key] = sorted(cast("list[str]", value))
        elif isinstance(value, list) and key not in ("enum", "type"):
            found[key] = [_bare(part, definitions, inside) for part in cast("list[Any]", value)]
        elif key not in _WORDS and key != "$defs":
            found[key] = _bare(value, definitions, inside)
    return found


def _types(schema: Shape) -> set[str]:
    found: Any = schema.get("type") or []
    if isinstance(found, str):
        return {found}
    return set(cast("list[str]", found))


def _allowed(schema: Shape) -> set[str] | None:
    if "const" in schema:
        return {canonical(schema.get("const")).decode()}
    values = schema.get("enum")
    if values is None:
        return None
    return {canonical(value).decode() for value in values}


def _plain(schema: Shape) -> dict[str, Any]:
    return {key: value for key, value in schema.items() if key not in _ONE_OF}


def _is_below(now: Any, before: Any) -> bool:
    return _is_number(now, before) and now < before


def _is_above(now: Any, before: Any) -> bool:
    return _is_number(now, before) and now > before


def _is_number(*values: Any) -> bool:
    """Return whether all values are numbers; others set no bound."""
    return all(isinstance(value, int | float) for value in values)


def _object(value: Any) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}


def _listed(names: set[str]) -> str:
    return " or ".join(sorted(names))


def _at(path: str, name: str) -> str:
    if name == "[]":
        return f"{path}[]"
    return f"{path}.{name}".lstrip(".")


def _change(at: str, what: str) -> str:
    return f"{at}: {what}" if at else what
