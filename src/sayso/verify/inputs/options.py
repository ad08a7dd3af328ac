"""What one parameter can be given: a value for each class of its input, the likeliest first."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, Final

from sayso.verify.inputs.captured_values import CapturedValues
from sayso.verify.inputs.drawing import draw
from sayso.verify.inputs.flattener import (
    Flattener,
    Schema,
    is_table,
    items_of,
    merge,
    table_of,
    types_of,
)
from sayso.verify.inputs.formats import SAMPLES
from sayso.verify.inputs.numbers import bounds, integer_range
from sayso.verify.inputs.patterns import compile_pattern, pattern_of
from sayso.verify.inputs.prose import named_values, said_of
from sayso.verify.inputs.roles import (
    IN_WORLD,
    PATHS,
    Meaning,
    Role,
    is_reader,
    kinds_of,
    role_of,
    words_of_tool,
)
from sayso.verify.inputs.schema import TYPES
from sayso.verify.inputs.world import World

_QUOTED: Final = re.compile(r"(?<!\w)['\"`]([\w.-]{1,30})['\"`](?!\w)")
_MOST: Final = 40
_MOST_CAPTURED: Final = 5
_DEEPEST: Final = 5
_MOST_PARTS: Final = 5_000
_LONGEST: Final = 5000
_WORD: Final = "text"
_PLAIN: Final = (
    _WORD, "a", "A longer text", "demo-1", "Demo", "DEMO", "1", "12345", "1.0.0", "a.b", "/demo",
    "127.0.0.1", "ada@example.com", "2026-01-15", "09:30", "1h", "#336699", "A1", "example.com",
)  # fmt: skip
"""Texts that are tried in this order; most patterns take one of them."""
_LATER: Final = frozenset(["end", "until", "before", "due", "max", "stop", "finish"])
_FRESH: Final = frozenset([Role.NAME, Role.TITLE])
_GIVEN_ONLY: Final = frozenset([Role.CURSOR])
"""What only an earlier result can give: anything else is refused."""
_OLD_PATHS: Final = PATHS - {Role.NEW_FILE, Role.NEW_DIRECTORY, Role.NEW_WORKBOOK}
_NAMED_FIRST: Final = frozenset([None, Role.FORMAT, Role.LANGUAGE, Role.COLOR])
"""Roles for which a description that names a value knows more than the world."""
_YES: Final = ("confirm", "agree", "accept", "consent", "acknowledge", "dry")


@dataclass(frozen=True, slots=True)
class Option:
    """One value of a parameter. `label` is its class, `origin` where the value came from.

    Of options with one label the first that succeeds is enough.
    """

    value: Any
    label: str
    origin: str


@dataclass(frozen=True, slots=True)
class Sources:
    """What values are taken from, for one tool."""

    tool: Mapping[str, Any]
    flattener: Flattener
    world: World
    captured: CapturedValues
    seed: int
    room: list[int] = field(default_factory=lambda: [_MOST_PARTS])
    """How many parts of its schema are still looked at: references can make them endless."""

    def options(self, name: str, node: object, depth: int = 0) -> list[Option]:
        """The options of the parameter `name` with the schema `node`; none where nothing fits."""
        schema = self.flattener.flat(node)
        self.room[0] -= 1
        if schema is None or depth > _DEEPEST or self.room[0] < 0:
            return []
        meaning = role_of(name, _nonnull(schema), self.tool)
        return _once(self._ranked(name, schema, meaning, depth))

    def meaning(self, name: str, node: object) -> Meaning:
        """The role of a parameter."""
        schema = self.flattener.flat(node)
        if schema is None:
            return Meaning(None)
        return role_of(name, _nonnull(schema), self.tool)

    def _ranked(self, name: str, schema: Schema, meaning: Meaning, depth: int) -> list[Option]:
        said = list(_said(schema))
        if "enum" in schema:
            values = items_of(schema["enum"])[:_MOST]
            enum = [Option(value, _told(value), "enum") for value in values]
            return [replace(option, label=_told(option.value)) for option in said] + enum
        found = self._branches(name, schema, meaning, depth)
        if found is None:
            found = list(self._typed(name, schema, meaning, depth))
        return _fit_said(said, meaning, found)

    def _branches(
        self, name: str, schema: Schema, meaning: Meaning, depth: int
    ) -> list[Option] | None:
        """The options of each branch of `anyOf` or `oneOf`, or of each of several types."""
        parts: list[Schema] = []
        for key in ("anyOf", "oneOf"):
            if one_of := items_of(schema.get(key)):
                rest = {name: value for name, value in schema.items() if name not in (key, *_SAID)}
                flats = [self.flattener.flat(branch) for branch in one_of]
                both = [merge(rest, flat) for flat in flats if flat is not None]
                parts = [flat for flat in both if flat is not None]
                break
        else:
            kinds = types_of(schema)
            if kinds is None or len(kinds) < 2:  # noqa: PLR2004 - one type is no choice
                return None
            rest = {name: value for name, value in schema.items() if name not in _SAID}
            parts = [{**rest, "type": kind} for kind in kinds if kind in TYPES]
        parts.sort(key=lambda branch: branch.get("type") == "null")
        is_choice = sum(branch.get("type") != "null" for branch in parts) > 1
        found: list[Option] = []
        heads: list[Option] = []
        if depth >= _DEEPEST:
            return []
        for number, part in enumerate(parts, start=1):
            options = self._ranked(name, part, meaning, depth + 1)
            if options and is_choice:
                label = _branch_label(part, number, parts)
                heads.append(replace(options[0], label=label))
            found += options
        return [*heads, *found]

    def _typed(self, name: str, schema: Schema, meaning: Meaning, depth: int) -> Iterator[Option]:
        match (types_of(schema) or (_implied(schema),))[:1]:
            case ("boolean",):
                is_yes = any(word in name.casefold() for word in _YES)
                for value in (is_yes, not is_yes):
                    yield Option(value, _told(value), "enum")
            case ("null",):
                yield Option(None, "null", "enum")
            case ("integer" | "number",):
                yield from self._known(name, schema, meaning)
                yield from _numbers(schema)
            case ("array",):
                yield from self._arrays(name, schema, depth)
            case ("object",):
                yield from self._objects(schema, depth)
            case _:
                named = list(_fitting(self._named(name, schema), schema))
                if meaning.role in _NAMED_FIRST:
                    yield from named
                yield from self._known(name, schema, meaning)
                if meaning.role not in _NAMED_FIRST:
                    yield from named
                yield from self._texts(schema, meaning)

    def _known(self, name: str, schema: Schema, meaning: Meaning) -> Iterator[Option]:
        """What the world and earlier results have for a parameter, as far as it fits the schema."""
        ordered = self.world.values(meaning)
        if meaning.role is Role.SQL:
            ordered = _by_verb(ordered, self.tool)
        yield from _fitting(self._used(name, meaning), schema)
        captured_value = self._captured(name, meaning)
        has_own = "existing" in ordered and meaning.role not in (Role.ID, Role.NAME)
        if not has_own:
            yield from _fitting(captured_value, schema)
        for label, values in ordered.items():
            if meaning.role in (Role.DATE, Role.TIME) and _is_later(name):
                values = (*values[1:], *values[:1])  # noqa: PLW2901 - the same, another first
            yield from _fitting((Option(value, label, "role") for value in values), schema)
        if has_own:
            yield from _fitting(captured_value, schema)

    def _used(self, name: str, meaning: Meaning) -> list[Option]:
        """What other tools took by the same name, as far as it is there at every start."""
        if meaning.role not in _OLD_PATHS:
            return []
        label = "directory" if meaning.role is Role.DIRECTORY else "existing"
        values = [value for value in self.captured.used(name) if self.world.has(value)]
        return [Option(value, label, "harvest") for value in values[:1]]

    def _named(self, name: str, schema: Schema) -> list[Option]:
        """The values that its description names, or its line in the description of the tool."""
        text = str(schema.get("description") or "")
        if not text:
            text = said_of(str(self.tool.get("description") or ""), name)
        return [Option(value, "named", "example") for value in named_values(text) if value != name]

    def _captured(self, name: str, meaning: Meaning) -> list[Option]:
        makes = "add" in kinds_of(self.tool) and not is_reader(self.tool)
        if makes and (meaning.role in _FRESH or meaning.role is None):
            return []
        label = "existing" if meaning.role in IN_WORLD | _FRESH else "known"
        tool = str(self.tool.get("name", ""))
        values = [*self.captured.values(name, tool)]
        values += [
            captured_value
            for captured_value in self.captured.values(meaning, tool)
            if captured_value not in values
        ]
        return [Option(value, label, "harvest") for value in values[:_MOST_CAPTURED]]

    def _texts(self, schema: Schema, meaning: Meaning) -> Iterator[Option]:
        if meaning.role in _GIVEN_ONLY:
            return
        least = int(schema.get("minLength", 0))
        most = schema.get("maxLength")
        samples = SAMPLES.get(str(schema.get("format", "")), _PLAIN)
        if meaning.role is None:
            samples = (*_quoted(schema), *samples)
        plain = list(_fitting((Option(value, "plain", "generated") for value in samples), schema))
        yield from plain[:3]
        if isinstance(pattern := schema.get("pattern"), str):
            if not plain:
                yield from self._patterned(pattern, least, most)
        elif "format" not in schema:
            if not fits_text(_WORD, schema):
                yield Option(_stretched(max(least, 1)), "plain", "generated")
            if meaning.role not in IN_WORLD and least == 0:
                yield Option("", "empty", "boundary")
            if "minLength" in schema and least > 0:
                yield Option(_stretched(least), "shortest", "boundary")
            if isinstance(most, int) and least <= most <= _LONGEST:
                yield Option(_stretched(most), "longest", "boundary")

    def _patterned(self, pattern: str, least: int, most: object) -> Iterator[Option]:
        if not isinstance(most, int):
            most = max(least, 60)
        for value in _draw_texts(pattern, least, most, self.seed):
            yield Option(value, "plain", "generated")

    def _arrays(self, name: str, schema: Schema, depth: int) -> Iterator[Option]:
        given = schema.get("items", True)
        heads = items_of(schema.get("prefixItems")) or items_of(given)
        least = int(schema.get("minItems", "contains" in schema))
        most = schema.get("maxItems")
        node = given
        if isinstance(given, list):
            node = schema.get("contains", True)
        if is_table(node) and "description" in schema:
            node = {"description": schema["description"], **node}
        items = self.options(name, node, depth + 1)
        first = [self.options(name, head, depth + 1) for head in heads]
        if not all(first):
            return
        start = [options[0].value for options in first]
        if not items or given is False or len(start) >= max(least, 1):
            if len(start) >= least:
                label = "one" if start else "empty"
                yield Option(start, label, "generated")
            return
        values = [option.value for option in items]
        for option in items:
            value = [*start, *_filled(option.value, values, max(1, least - len(start)))]
            yield Option(value, option.label, option.origin)
        if least == 0:
            yield Option([], "empty", "boundary")
        if len(values) > 1 and (not isinstance(most, int) or most > 1):
            yield Option([*start, *values[:2]], "several", "boundary")
        if isinstance(most, int) and 1 < most <= len(values):
            yield Option([*start, *values[: most - len(start)]], "most", "boundary")

    def _objects(self, schema: Schema, depth: int) -> Iterator[Option]:
        properties = table_of(schema.get("properties"))
        required = [str(name) for name in items_of(schema.get("required"))]
        found = {
            name: self.options(name, properties.get(name, True), depth + 1) for name in required
        }
        if not all(found.values()):
            return
        base = {name: options[0].value for name, options in found.items()}
        least = int(schema.get("minProperties", 0))
        optional = [name for name in properties if name not in found]
        more = {name: self.options(name, properties[name], depth + 1) for name in optional}
        for name in optional:
            if len(base) < least and more[name]:
                base[name] = more[name][0].value
        yield from self._filled_up(schema, base, least, depth)
        others = {name: options[1:] for name, options in found.items()}
        for name, options in (others | more).items():
            for option in options:
                yield Option({**base, name: option.value}, f"{name}={option.label}", option.origin)

    def _filled_up(
        self, schema: Schema, base: dict[str, Any], least: int, depth: int
    ) -> Iterator[Option]:
        """The plainest object; where it takes names of anybody's choice, one with such a name."""
        others = schema.get("additionalProperties", True)
        extra: list[Option] = []
        if is_table(others):
            extra = self.options("value", others, depth + 1)
        if not extra and len(base) < least:
            extra = [Option(_WORD, "plain", "generated")]
        names = [f"key{number}" for number in range(1, max(1, least - len(base)) + 1)]
        filled = [
            Option({**base, **dict.fromkeys(names, option.value)}, "filled", option.origin)
            for option in extra[:1]
        ]
        if not base:
            yield from filled
        if len(base) >= least:
            label = "object" if base else "empty"
            yield Option(base, label, "generated")
        if base:
            yield from filled


_SAID: Final = ("default", "examples", "example")


def _said(schema: Schema) -> Iterator[Option]:
    if schema.get("default") is not None:
        yield Option(schema["default"], "default", "default")
    for value in items_of(schema.get("examples")):
        yield Option(value, "example", "example")
    if "example" in schema:
        yield Option(schema["example"], "example", "example")


def _fit_said(said: list[Option], meaning: Meaning, found: list[Option]) -> list[Option]:
    """What the schema itself proposes, where it counts: what lies in the world comes first."""
    good = [option for option in found if option.origin in ("harvest", "role")]
    if meaning.role in IN_WORLD and good:
        labels = {"existing", "directory", "new"}
        if meaning.role is Role.SQL:
            labels.add(good[0].label)
        known = [option for option in good if option.label in labels]
        return [*known, *said, *found]
    return [*said, *found]


def _fitting(options: "Iterator[Option] | list[Option]", schema: Schema) -> Iterator[Option]:
    """Those that fit a schema of one type, made a text or a number where that is what is asked."""
    kind = (types_of(schema) or ("string",))[0]
    for option in options:
        value = _as_kind(option.value, kind)
        if isinstance(value, str):
            is_fit = kind == "string" and fits_text(value, schema)
        else:
            is_fit = value is not None and fits_number(value, schema)
        if is_fit:
            yield replace(option, value=value)


def _as_kind(value: Any, kind: str) -> str | float | None:
    """A text or a number as the other, where that is asked; `None` where it cannot be."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    if kind == "string":
        return str(value)
    if not isinstance(value, str):
        return value
    if value.isdecimal() and value.isascii():
        return int(value)
    return None


def fits_text(text: str, schema: Schema) -> bool:
    """Whether a text is within the lengths and the pattern of a schema."""
    least = schema.get("minLength", 0)
    most = schema.get("maxLength")
    if len(text) < least or (isinstance(most, int) and len(text) > most):
        return False
    pattern = schema.get("pattern")
    if not isinstance(pattern, str):
        return True
    compiled = compile_pattern(pattern)
    return compiled is not None and compiled.search(text) is not None


def fits_number(value: float, schema: Schema) -> bool:
    """Whether a number is within the bounds of a schema."""
    low, high = bounds(schema)
    if schema.get("type") == "integer" and value != int(value):
        return False
    if (low is not None and value < low) or (high is not None and value > high):
        return False
    return value not in (schema.get("exclusiveMinimum"), schema.get("exclusiveMaximum"))


def _numbers(schema: Schema) -> Iterator[Option]:
    found = integer_range(schema)
    if found is None:
        low, high = bounds(schema)
        if low is not None and high is not None:
            yield Option((low + high) / 2, "plain", "generated")
        return
    low, high = bounds(schema)
    index = min(max(1, found.least), found.most)
    yield Option(found.at(index), "plain", "generated")
    if low is not None:
        yield Option(found.at(found.least), "minimum", "boundary")
    elif high is None or high >= 0:
        yield Option(0, "zero", "boundary")
    if high is not None:
        yield Option(found.at(found.most), "maximum", "boundary")


@lru_cache(maxsize=1000)
def _draw_texts(pattern: str, least: int, most: int, seed: int) -> tuple[str, ...]:
    """A few texts that fit a pattern; servers have few patterns, each for many parameters."""
    strategy = pattern_of(pattern, least, most)
    if strategy is None:
        return ()
    return tuple(draw(strategy, 2, seed=seed))


def _implied(schema: Schema) -> str:
    if "properties" in schema or "additionalProperties" in schema or "required" in schema:
        return "object"
    if "items" in schema or "prefixItems" in schema:
        return "array"
    if "minimum" in schema or "maximum" in schema:
        return "integer"
    return "string"


def _quoted(schema: Schema) -> tuple[str, ...]:
    return tuple(_QUOTED.findall(str(schema.get("description") or ""))[:3])


def _branch_label(part: Schema, number: int, parts: list[Schema]) -> str:
    kinds = types_of(part) or (_implied(part),)
    same = [branch for branch in parts if (types_of(branch) or (_implied(branch),)) == kinds]
    if len(same) == 1:
        return kinds[0]
    return f"{kinds[0]} {number}"


def _nonnull(schema: Schema) -> Schema:
    """The schema of a value that is there: the one branch of `anyOf` beside `null`, if it is so."""
    for key in ("anyOf", "oneOf"):
        parts = [table_of(part) for part in items_of(schema.get(key))]
        real = [part for part in parts if part.get("type") != "null"]
        if real:
            kinds = {kind for part in real for kind in types_of(part) or ()}
            for kind in ("string", "integer", "array"):
                if kind in kinds:
                    return {**real[0], "type": kind, **schema}
            return {**real[0], **schema}
    return schema


def _by_verb(kinds: Mapping[str, tuple[Any, ...]], tool: Mapping[str, Any]) -> dict[str, Any]:
    """Statements, the tool's own verb first; a writer without one begins with an insert."""
    words = words_of_tool(tool)
    first = "insert"
    if is_reader(tool) or ("query" in words and "write" not in words):
        first = "select"
    first = next((kind for kind in kinds if kind in words), first)
    return {kind: kinds[kind] for kind in (first, *kinds) if kind in kinds}


def _is_later(name: str) -> bool:
    return any(word in name.casefold() for word in _LATER)


def _filled(value: Any, values: list[Any], count: int) -> list[Any]:
    others = [other for other in values if other != value]
    return [value, *others][:count] + [value] * max(0, count - 1 - len(others))


def _stretched(length: int) -> str:
    return (_WORD + " words " * (length // 7 + 1))[:length].replace(" ", "-")


def _told(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return str(value)[:60]


def _once(options: list[Option]) -> list[Option]:
    kept: list[Option] = []
    for option in options:
        if not any(
            _is_same(option.value, other.value) and option.label == other.label for other in kept
        ):
            kept.append(option)
        if len(kept) == _MOST:
            break
    return kept


def _is_same(value: Any, other: Any) -> bool:
    return type(value) is type(other) and value == other
