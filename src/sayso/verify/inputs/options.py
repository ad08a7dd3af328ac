"""The options of a parameter: at least one value for each input class, the likeliest first."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from sayso.catalog import word_list
from sayso.verify.inputs.captured_values import CapturedValues
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
from sayso.verify.inputs.option_values import (
    PROPOSALS,
    Option,
    branch_label,
    draw_texts,
    filled,
    fits_text,
    fitting,
    implied_type,
    label_of,
    number_options,
    proposed,
    statements_by_verb,
    text_of_length,
    with_proposed,
    without_null,
    without_repeats,
)
from sayso.verify.inputs.prose import enumerated, named_values, said_of
from sayso.verify.inputs.role_rules import role_of
from sayso.verify.inputs.roles import IN_WORLD, NAMED, PATHS, Meaning, Role, is_reader, kinds_of
from sayso.verify.inputs.schema import TYPES
from sayso.verify.inputs.world import World

_QUOTED: Final = re.compile(r"(?<!\w)['\"`]([\w.-]{1,30})['\"`](?!\w)")
_MOST: Final = 40
_FIRST: Final = 1
"""The number of options before the constants of the server's source."""
_COMPARED: Final = frozenset({"string", "integer", "number"})
_MOST_CAPTURED: Final = 5
_DEEPEST: Final = 5
_MOST_PARTS: Final = 5_000
_LONGEST: Final = 5000
_WORD: Final = "text"
_PLAIN: Final = (
    _WORD, "a", "A longer text", "demo-1", "Demo", "DEMO", "1", "12345", "1.0.0", "a.b", "/demo",
    "127.0.0.1", "ada@example.com", "2026-01-15", "09:30", "1h", "#336699", "A1", "example.com",
)  # fmt: skip
"""Texts to try in this order; most patterns accept one of them."""
_PLAIN_NAME: Final = re.compile(r"[A-Za-z_]\w{0,60}")
"""A table's name that needs no quotes."""
_LATER: Final = frozenset(["end", "until", "before", "due", "max", "stop", "finish"])
_FRESH: Final = frozenset([Role.NAME, Role.TITLE])
_GIVEN_ONLY: Final = frozenset([Role.CURSOR])
"""Roles whose values come from earlier results only."""
_OLD_PATHS: Final = PATHS - {Role.NEW_FILE, Role.NEW_DIRECTORY, Role.NEW_WORKBOOK}
_NAMED_FIRST: Final = frozenset([None, Role.FORMAT, Role.LANGUAGE, Role.COLOR])
"""Roles for which values in a description are better than values of the seeded world."""
_KINDS: Final = [[word] for word in ("type", "kind", "category", "status", "state", "mode")]
"""The last words of parameters whose values a tool's description may enumerate."""
_YES: Final = ("confirm", "agree", "accept", "consent", "acknowledge", "dry")


@dataclass(frozen=True, slots=True)
class Sources:
    """The sources of values for one tool's parameters."""

    tool: Mapping[str, Any]
    flattener: Flattener
    world: World
    captured: CapturedValues
    seed: int
    room: list[int] = field(default_factory=lambda: [_MOST_PARTS])
    """The number of schema parts that may still be visited, since references can be endless."""

    def options(self, name: str, node: object, depth: int = 0) -> list[Option]:
        """Return the options of the parameter `name` with the schema `node`."""
        schema = self.flattener.flat(node)
        self.room[0] -= 1
        if schema is None or depth > _DEEPEST or self.room[0] < 0:
            return []
        meaning = role_of(name, without_null(schema), self.tool)
        likely = self._ranked(name, schema, meaning, depth)
        # A branch behind a constant is tried early, but after what makes a call succeed.
        compared = list(self._compared(name, schema))
        return without_repeats([*likely[:_FIRST], *compared, *likely[_FIRST:]])

    def _compared(self, name: str, schema: Schema) -> Iterator[Option]:
        """Yield the constants that the server's program compares this parameter with."""
        kinds = types_of(schema) or (implied_type(schema),)
        if "enum" in schema or not _COMPARED & set(kinds):
            return
        for value in self.world.compared(name):
            is_text = isinstance(value, str) and "string" in kinds
            is_number = isinstance(value, int) and bool({"integer", "number"} & set(kinds))
            if is_text or is_number:
                yield from fitting([Option(value, label_of(value), "source")], schema)

    def meaning(self, name: str, node: object) -> Meaning:
        """Return the role of a parameter."""
        schema = self.flattener.flat(node)
        if schema is None:
            return Meaning(None)
        return role_of(name, without_null(schema), self.tool)

    def _ranked(self, name: str, schema: Schema, meaning: Meaning, depth: int) -> list[Option]:
        proposed_options = list(proposed(schema))
        if "enum" in schema:
            values = items_of(schema["enum"])[:_MOST]
            enum = [Option(value, label_of(value), "enum") for value in values]
            return [
                replace(option, label=label_of(option.value)) for option in proposed_options
            ] + enum
        found = self._branches(name, schema, meaning, depth)
        if found is None:
            found = list(self._typed(name, schema, meaning, depth))
        return with_proposed(proposed_options, meaning, found)

    def _branches(
        self, name: str, schema: Schema, meaning: Meaning, depth: int
    ) -> list[Option] | None:
        parts: list[Schema] = []
        for key in ("anyOf", "oneOf"):
            if one_of := items_of(schema.get(key)):
                rest = {
                    name: value for name, value in schema.items() if name not in (key, *PROPOSALS)
                }
                flats = [self.flattener.flat(branch) for branch in one_of]
                both = [merge(rest, flat) for flat in flats if flat is not None]
                parts = [flat for flat in both if flat is not None]
                break
        else:
            kinds = types_of(schema)
            if kinds is None or len(kinds) < 2:  # noqa: PLR2004 - one type is no choice
                return None
            rest = {name: value for name, value in schema.items() if name not in PROPOSALS}
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
                label = branch_label(part, number, parts)
                heads.append(replace(options[0], label=label))
            found += options
        return [*heads, *found]

    def _typed(self, name: str, schema: Schema, meaning: Meaning, depth: int) -> Iterator[Option]:
        match (types_of(schema) or (implied_type(schema),))[:1]:
            case ("boolean",):
                is_yes = any(word in name.casefold() for word in _YES)
                for value in (is_yes, not is_yes):
                    yield Option(value, label_of(value), "enum")
            case ("null",):
                yield Option(None, "null", "enum")
            case ("integer" | "number",):
                yield from self._known(name, schema, meaning)
                yield from number_options(schema)
            case ("array",):
                yield from self._arrays(name, schema, depth)
            case ("object",):
                yield from self._objects(schema, depth)
            case _:
                named = list(fitting(self._named(name, schema), schema))
                if meaning.role in _NAMED_FIRST:
                    yield from named
                yield from self._known(name, schema, meaning)
                if meaning.role not in _NAMED_FIRST:
                    yield from named
                yield from self._texts(schema, meaning)

    def _known(self, name: str, schema: Schema, meaning: Meaning) -> Iterator[Option]:
        ordered = self.world.values(meaning)
        if meaning.role is Role.SQL:
            ordered = statements_by_verb(ordered, self.tool)
            if next(iter(ordered), "") == "select":
                yield from fitting(self._selects(), schema)
        yield from fitting(self._used(name, meaning), schema)
        captured_value = self._captured(name, meaning)
        has_own = "existing" in ordered and meaning.role not in (Role.ID, Role.NAME, *NAMED)
        if not has_own:
            yield from fitting(captured_value, schema)
        for label, values in ordered.items():
            if meaning.role in (Role.DATE, Role.TIME) and _is_later(name):
                values = (*values[1:], *values[:1])  # noqa: PLW2901 - rotated
            yield from fitting((Option(value, label, "role") for value in values), schema)
        if has_own:
            yield from fitting(captured_value, schema)

    def _used(self, name: str, meaning: Meaning) -> list[Option]:
        """Return paths that other tools accepted for this parameter: one of the world, one made."""
        if meaning.role not in _OLD_PATHS:
            return []
        label = "directory" if meaning.role is Role.DIRECTORY else "existing"
        old = [value for value in self.captured.used(name) if self.world.has(value)]
        made = [value for value in self.captured.made(name) if value not in old]
        return [Option(value, label, "harvest") for value in (*old[:1], *made[:1])]

    def _selects(self) -> list[Option]:
        """Return a query of a table that an earlier tool listed."""
        tables = self.captured.values(Meaning(Role.TABLE))
        plain = [name for name in tables if isinstance(name, str) and _PLAIN_NAME.fullmatch(name)]
        # The statement is an input for the server under test, not one of ours.
        texts = [f"SELECT * FROM {name}" for name in plain[:1]]  # noqa: S608 - run in the sandbox
        return [Option(text, "select", "harvest") for text in texts]

    def _named(self, name: str, schema: Schema) -> list[Option]:
        text = str(schema.get("description") or "")
        about = str(self.tool.get("description") or "")
        if not text:
            text = said_of(about, name)
        values = named_values(text)
        if not values and word_list(name)[-1:] in _KINDS:
            values = enumerated(about)
        return [Option(value, "named", "example") for value in values if value != name]

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
        minimum = int(schema.get("minLength", 0))
        maximum = schema.get("maxLength")
        samples = SAMPLES.get(str(schema.get("format", "")), _PLAIN)
        if meaning.role is None:
            samples = (*_quoted(schema), *samples)
        plain = list(fitting((Option(value, "plain", "generated") for value in samples), schema))
        yield from plain[:3]
        if isinstance(pattern := schema.get("pattern"), str):
            if not plain:
                yield from self._patterned(pattern, minimum, maximum)
        elif "format" not in schema:
            if not fits_text(_WORD, schema):
                yield Option(text_of_length(max(minimum, 1)), "plain", "generated")
            if meaning.role not in IN_WORLD and minimum == 0:
                yield Option("", "empty", "boundary")
            if "minLength" in schema and minimum > 0:
                yield Option(text_of_length(minimum), "shortest", "boundary")
            if isinstance(maximum, int) and minimum <= maximum <= _LONGEST:
                yield Option(text_of_length(maximum), "longest", "boundary")

    def _patterned(self, pattern: str, minimum: int, maximum: object) -> Iterator[Option]:
        if not isinstance(maximum, int):
            maximum = max(minimum, 60)
        for value in draw_texts(pattern, minimum, maximum, self.seed):
            yield Option(value, "plain", "generated")

    def _arrays(self, name: str, schema: Schema, depth: int) -> Iterator[Option]:
        given = schema.get("items", True)
        heads = items_of(schema.get("prefixItems")) or items_of(given)
        minimum = int(schema.get("minItems", "contains" in schema))
        maximum = schema.get("maxItems")
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
        if not items or given is False or len(start) >= max(minimum, 1):
            if len(start) >= minimum:
                label = "one" if start else "empty"
                yield Option(start, label, "generated")
            return
        values = [option.value for option in items]
        for option in items:
            value = [*start, *filled(option.value, values, max(1, minimum - len(start)))]
            yield Option(value, option.label, option.origin)
        if minimum == 0:
            yield Option([], "empty", "boundary")
        if len(values) > 1 and (not isinstance(maximum, int) or maximum > 1):
            yield Option([*start, *values[:2]], "several", "boundary")
        if isinstance(maximum, int) and 1 < maximum <= len(values):
            yield Option([*start, *values[: maximum - len(start)]], "most", "boundary")

    def _objects(self, schema: Schema, depth: int) -> Iterator[Option]:
        properties = table_of(schema.get("properties"))
        required = [str(name) for name in items_of(schema.get("required"))]
        found = {
            name: self.options(name, properties.get(name, True), depth + 1) for name in required
        }
        if not all(found.values()):
            return
        base = {name: options[0].value for name, options in found.items()}
        minimum = int(schema.get("minProperties", 0))
        optional = [name for name in properties if name not in found]
        more = {name: self.options(name, properties[name], depth + 1) for name in optional}
        for name in optional:
            if len(base) < minimum and more[name]:
                base[name] = more[name][0].value
        yield from self._filled_up(schema, base, minimum, depth)
        others = {name: options[1:] for name, options in found.items()}
        for name, options in (others | more).items():
            for option in options:
                yield Option({**base, name: option.value}, f"{name}={option.label}", option.origin)

    def _filled_up(
        self, schema: Schema, base: dict[str, Any], minimum: int, depth: int
    ) -> Iterator[Option]:
        """Yield the plainest object, and an object with extra properties if they are allowed."""
        others = schema.get("additionalProperties", True)
        extra: list[Option] = []
        if is_table(others):
            extra = self.options("value", others, depth + 1)
        if not extra and len(base) < minimum:
            extra = [Option(_WORD, "plain", "generated")]
        names = [f"key{number}" for number in range(1, max(1, minimum - len(base)) + 1)]
        filled = [
            Option({**base, **dict.fromkeys(names, option.value)}, "filled", option.origin)
            for option in extra[:1]
        ]
        if not base:
            yield from filled
        if len(base) >= minimum:
            label = "object" if base else "empty"
            yield Option(base, label, "generated")
        if base:
            yield from filled


def _quoted(schema: Schema) -> tuple[str, ...]:
    return tuple(_QUOTED.findall(str(schema.get("description") or ""))[:3])


def _is_later(name: str) -> bool:
    return any(word in name.casefold() for word in _LATER)
