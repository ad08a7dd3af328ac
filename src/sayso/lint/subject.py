"""The input of rules: one tool, and the list that contains it. Properties are computed lazily.

All input is untrusted: it may have any size, depth or type.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import islice
from typing import Any, Final, cast

from sayso.catalog import word_list
from sayso.infer import chances, guess
from sayso.intent import DOUBT, Declaration, Guess, HintName, Hints, Verdict, read_tool
from sayso.schema import list_of, object_of, text_of
from sayso.settings import Step

JsonObject = Mapping[str, Any]

_MAX_PARAMETERS: Final = 1_000
_MAX_TEXTS: Final = 5_000
_FORMAL: Final = frozenset({"$ref", "$schema", "format", "pattern", "required", "type"})
"""Schema keywords whose values are for programs, not for people or models."""
_BRANCHING: Final = ("anyOf", "oneOf", "allOf")
_BRANCHES: Final = frozenset(_BRANCHING)
_MAX_NAME_LENGTH: Final = 200
ALLOW_KEY: Final = "io.sayso/lint"
"""The `_meta` key with a tool's allowances: `{"allow": {"rule": "reason"}}`."""
_ROUNDING: Final = 1e-4
"""The largest difference between a guess's confidence, which is rounded, and its chance."""
_CHARS_PER_TOKEN: Final = 4
"""The average for English and JSON with current tokenizers, within 20 %."""


@dataclass(frozen=True, slots=True)
class Allowance:
    """A rule that the author allows the tool to break, as written, with the reason."""

    word: str
    reason: str


@dataclass(frozen=True, slots=True)
class Deed:
    """An effect of a handler with its place: “opens a file for writing”, `server.py`, 14.

    `against` names the hint whose looser value the effect contradicts.
    """

    what: str
    file: str
    line: int
    against: HintName = "read_only"


@dataclass(frozen=True, slots=True)
class Handler:
    """The function that runs a tool: where its definition starts, and its proven effects."""

    file: str
    line: int
    deeds: tuple[Deed, ...] = ()


class Parameter:
    """One argument of a tool, from its schema."""

    __slots__ = ("is_required", "name", "schema")

    def __init__(self, name: str, schema: object, *, is_required: bool) -> None:
        self.name = name
        self.schema = object_of(schema)
        self.is_required = is_required

    @property
    def at(self) -> tuple[Step, ...]:
        return ("inputSchema", "properties", self.name)

    @property
    def words(self) -> tuple[str, ...]:
        return _words(self.name[:_MAX_NAME_LENGTH])

    @property
    def description(self) -> str:
        return text_of(self.schema.get("description"))

    @property
    def kinds(self) -> frozenset[str]:
        """The JSON types that the first two levels of the schema permit, without null."""
        return _kinds(self.schema)

    @property
    def choices(self) -> tuple[str, ...]:
        return tuple(choice for choice in _enumerated(self.schema) if isinstance(choice, str))


class Subject:
    """One entry of `tools/list`, as input of rules.

    `handler` is the tool's analyzed source. `verdicts` come from a receipt. `comments` are the
    allowances in its source's comments.
    """

    def __init__(
        self,
        raw: JsonObject,
        *,
        index: int = 0,
        handler: Handler | None = None,
        verdicts: Mapping[HintName, Verdict] | None = None,
        comments: Sequence[Allowance] = (),
    ) -> None:
        self.raw = raw
        self.index = index
        self.comments = comments
        self.deeds = handler.deeds if handler else ()
        self.verdicts: Mapping[HintName, Verdict] = verdicts or {}
        self.name = text_of(raw.get("name"))
        self.description = text_of(raw.get("description"))

    @cached_property
    def declaration(self) -> Declaration:
        return read_tool(self.raw)

    @cached_property
    def hints(self) -> Hints:
        return self.declaration.intent.hints

    @cached_property
    def annotations(self) -> JsonObject:
        return object_of(self.raw.get("annotations"))

    @cached_property
    def meta(self) -> JsonObject:
        return object_of(self.raw.get("_meta"))

    @property
    def allowed(self) -> list[Allowance]:
        reasons = object_of(object_of(self.meta.get(ALLOW_KEY)).get("allow"))
        return [
            *(Allowance(word, text_of(why).strip()) for word, why in reasons.items()),
            *self.comments,
        ]

    @cached_property
    def titles(self) -> tuple[str, str]:
        """The top-level title and the title in the annotations; "" for a missing one."""
        titles = (self.raw.get("title"), self.annotations.get("title"))
        first, second = (text_of(title).strip() for title in titles)
        return first, second

    @property
    def title(self) -> str:
        return self.titles[0] or self.titles[1]

    @cached_property
    def guesses(self) -> Mapping[HintName, Guess]:
        return guess(self.raw)

    @cached_property
    def chances(self) -> Mapping[HintName, float]:
        """The chance that each hint is true. Cheaper than `guesses`, which also have reasons."""
        return chances(self.raw)

    def doubt(self, name: HintName, *, value: bool) -> Guess | None:
        """Return the guess that a hint is `value`, if it is sure enough to doubt the opposite."""
        if not self.is_likely(name, value, DOUBT):
            return None
        match = self.guesses.get(name)
        if match is None or match.value is not value or match.confidence < DOUBT:
            return None
        return match

    def is_likely(self, name: HintName, value: bool, at_least: float) -> bool:  # noqa: FBT001 - of a hint
        """Return whether a guess that a hint is `value` can reach this confidence."""
        chance = self.chances[name]
        return (chance if value else 1 - chance) >= at_least - _ROUNDING

    @property
    def input_schema(self) -> JsonObject:
        return object_of(self.raw.get("inputSchema"))

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        """The first thousand arguments."""
        schema = self.input_schema
        required = {name for name in list_of(schema.get("required")) if isinstance(name, str)}
        properties = islice(object_of(schema.get("properties")).items(), _MAX_PARAMETERS)
        return tuple(
            Parameter(name, inner, is_required=name in required) for name, inner in properties
        )

    @cached_property
    def words(self) -> list[str]:
        return list(_words(self.name[:_MAX_NAME_LENGTH]))

    @cached_property
    def written(self) -> str:
        """The entry as JSON, or only its description if the entry cannot be serialized."""
        try:
            return json.dumps(self.raw, ensure_ascii=False, separators=(",", ":"))
        except (RecursionError, TypeError, ValueError):
            return self.description

    @property
    def tokens(self) -> int:
        return len(self.written) // _CHARS_PER_TOKEN

    def schemas_with_references(self) -> Iterator[tuple[str, object]]:
        """Yield the schemas by key, if the entry may contain a `$ref`."""
        if '"$ref"' in self.written:
            for key in ("inputSchema", "outputSchema"):
                yield key, self.raw.get(key)

    @property
    def writes(self) -> bool:
        """False if the tool is declared read-only, else true."""
        return self.hints.read_only is not True

    @cached_property
    def all_text(self) -> str:
        """All `texts` as one string, so that a rule can search them at once."""
        return "\n".join(text for _, text in self.texts())

    @cached_property
    def lower_text(self) -> str:
        return self.all_text.lower()

    def texts(self) -> Iterator[tuple[tuple[Step, ...], str]]:
        """Yield every text that a model reads, with its path; at most 5,000 per schema."""
        yield ("name",), self.name
        yield ("title",), self.titles[0]
        yield ("annotations", "title"), self.titles[1]
        yield ("description",), self.description
        for key in ("inputSchema", "outputSchema"):
            yield from _texts_in(self.raw.get(key), (key,))


class Listing:
    """The tools of one server, and the names of other servers' tools."""

    def __init__(
        self,
        name: str,
        tools: Sequence[Subject],
        *,
        others: Mapping[str, str] | None = None,
        broken: Sequence[str] = (),
    ) -> None:
        self.name = name
        self.tools = tools
        self.broken = broken
        """Problems of entries that are not tools."""
        self.others: Mapping[str, str] = others or {}
        """Names of other servers' tools, each with its server's name."""

    @cached_property
    def names(self) -> frozenset[str]:
        return frozenset(tool.name for tool in self.tools)


@lru_cache(4096)
def _words(name: str) -> tuple[str, ...]:
    return tuple(word_list(name))


def _texts_in(schema: object, at: tuple[Step, ...]) -> Iterator[tuple[tuple[Step, ...], str]]:
    """Yield a schema's texts in order: property names, descriptions, choices."""
    todo = [(at, schema)]
    for _ in range(_MAX_TEXTS):
        if not todo:
            return
        place, part = todo.pop()
        if isinstance(part, str):
            yield place, part
        elif isinstance(part, dict):
            node = cast("dict[str, object]", part)
            if place[-1:] == ("properties",):
                yield from (((*place, name), name) for name in node)
            items = [((*place, key), inner) for key, inner in node.items() if key not in _FORMAL]
            todo += items[::-1]
        elif isinstance(part, list):
            inner = cast("list[object]", part)
            todo += [((*place, index), value) for index, value in enumerate(inner)][::-1]


def _kinds(schema: JsonObject) -> frozenset[str]:
    kind = schema.get("type")
    branches = _branches(schema)
    if isinstance(kind, str) and not branches:
        return frozenset((kind,)) - {"null"}
    kinds: set[str] = set()
    for branch in (schema, *branches):
        kind = branch.get("type")
        kinds.update(name for name in (kind, *list_of(kind)) if isinstance(name, str))
    return frozenset(kinds) - {"null"}


def _branches(schema: JsonObject) -> list[JsonObject]:
    if _BRANCHES.isdisjoint(schema):
        return []
    return [
        object_of(branch)
        for key in _BRANCHING
        for branch in list_of(schema.get(key))[:_MAX_PARAMETERS]
    ]


def _enumerated(schema: JsonObject) -> list[object]:
    return [
        value
        for branch in (schema, *_branches(schema))
        for value in ([branch["const"]] if "const" in branch else list_of(branch.get("enum")))
    ]
