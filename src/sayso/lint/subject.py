"""What rules look at: one tool, and the list that it stands in. Worked out once, and only if asked.

Everything here is a stranger's: no size, depth or type is taken for granted.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import islice
from typing import Any, Final, cast

from sayso.catalog import word_list
from sayso.infer import chances, guess
from sayso.intent import (
    DOUBT,
    Declaration,
    Guess,
    HintName,
    Hints,
    Verdict,
    read_tool,
)
from sayso.settings import Step

JsonObject = Mapping[str, Any]

_MOST_PARAMETERS: Final = 1_000
_MOST_TEXTS: Final = 5_000
_FORMAL: Final = frozenset({"$ref", "$schema", "format", "pattern", "required", "type"})
"""Keywords of a schema whose texts are for programs."""
_BRANCHING: Final = ("anyOf", "oneOf", "allOf")
_BRANCHES: Final = frozenset(_BRANCHING)
_LONGEST_NAME: Final = 200
ALLOW_KEY: Final = "io.sayso/lint"
"""The key of a tool's `_meta` under which it may allow rules: `{"allow": {"rule": "reason"}}`."""
_ROUNDED: Final = 1e-4
"""How far the confidence of a guess may be from the chance that it is made from."""
_CHARS_PER_TOKEN: Final = 4
"""What English and JSON come to with the tokenizers in use, give or take a fifth."""


@dataclass(frozen=True, slots=True)
class Allowance:
    """A rule that a tool's author allows it to break, as it is written, with the reason."""

    word: str
    reason: str


@dataclass(frozen=True, slots=True)
class Deed:
    """Something that a handler does, and where: “opens a file for writing”, `server.py`, 14.

    `against` names the hint whose looser value it speaks against.
    """

    what: str
    file: str
    line: int
    against: HintName = "read_only"


@dataclass(frozen=True, slots=True)
class Handler:
    """The function behind a tool: where its definition begins, and what it surely does.

    What the analysis cannot tell is not among `deeds`.
    """

    file: str
    line: int
    deeds: tuple[Deed, ...] = ()


class Parameter:
    """One argument that a tool takes, as its schema has it."""

    __slots__ = ("is_required", "name", "schema")

    def __init__(self, name: str, schema: object, *, is_required: bool) -> None:
        self.name = name
        self.schema = as_object(schema)
        self.is_required = is_required

    @property
    def at(self) -> tuple[Step, ...]:
        """The way to it from the tool's entry."""
        return ("inputSchema", "properties", self.name)

    @property
    def words(self) -> tuple[str, ...]:
        """The words of its name, in small letters and in the singular."""
        return _words(self.name[:_LONGEST_NAME])

    @property
    def description(self) -> str:
        """What its schema says of it."""
        return as_text(self.schema.get("description"))

    @property
    def kinds(self) -> frozenset[str]:
        """The JSON types that it may have, as far as the schema says so on its first two levels."""
        return _kinds(self.schema)

    @property
    def choices(self) -> tuple[str, ...]:
        """The words that it is one of, where it is an enumeration."""
        return tuple(choice for choice in _enumerated(self.schema) if isinstance(choice, str))


class Subject:
    """One entry of `tools/list` as rules see it.

    `handler` is what an analysis of its source found, `verdicts` what a receipt says of it,
    `comments` what comments in its source allow.
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
        self.name = as_text(raw.get("name"))
        self.description = as_text(raw.get("description"))

    @cached_property
    def declaration(self) -> Declaration:
        """What it declares, and what is wrong with how it says it."""
        return read_tool(self.raw)

    @cached_property
    def hints(self) -> Hints:
        """The hints that it declares."""
        return self.declaration.intent.hints

    @cached_property
    def annotations(self) -> JsonObject:
        """Its annotations as they stand there."""
        return as_object(self.raw.get("annotations"))

    @cached_property
    def meta(self) -> JsonObject:
        """Its `_meta`."""
        return as_object(self.raw.get("_meta"))

    @property
    def allowed(self) -> list[Allowance]:
        """The rules that it is allowed to break: in its `_meta`, and by comments."""
        own = as_object(as_object(self.meta.get(ALLOW_KEY)).get("allow"))
        found = [Allowance(word, as_text(why).strip()) for word, why in own.items()]
        return [*found, *self.comments]

    @cached_property
    def titles(self) -> tuple[str, str]:
        """The title beside the name, and the one among the annotations; empty where none is."""
        titles = (self.raw.get("title"), self.annotations.get("title"))
        first, second = (as_text(title).strip() for title in titles)
        return first, second

    @property
    def title(self) -> str:
        """The title that clients show."""
        return self.titles[0] or self.titles[1]

    @cached_property
    def guesses(self) -> Mapping[HintName, Guess]:
        """What its own text suggests."""
        return guess(self.raw)

    @cached_property
    def chances(self) -> Mapping[HintName, float]:
        """How likely each hint is true by its own text: a first look, since reasons take time."""
        return chances(self.raw)

    def doubt(self, name: HintName, *, value: bool) -> Guess | None:
        """The guess that a hint is `value`, where it is sure enough to speak against another."""
        if not self.is_likely(name, value, DOUBT):
            return None
        found = self.guesses.get(name)
        if found is None or found.value is not value or found.confidence < DOUBT:
            return None
        return found

    def is_likely(self, name: HintName, value: bool, at_least: float) -> bool:  # noqa: FBT001 - of a hint
        """Whether a guess may be so sure that a hint is `value`."""
        chance = self.chances[name]
        return (chance if value else 1 - chance) >= at_least - _ROUNDED

    @property
    def input_schema(self) -> JsonObject:
        """The schema of its arguments; empty where there is none."""
        return as_object(self.raw.get("inputSchema"))

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        """The arguments that it takes, at most a thousand of them."""
        schema = self.input_schema
        wanted = {name for name in as_list(schema.get("required")) if isinstance(name, str)}
        found = islice(as_object(schema.get("properties")).items(), _MOST_PARAMETERS)
        return tuple(Parameter(name, inner, is_required=name in wanted) for name, inner in found)

    @cached_property
    def words(self) -> list[str]:
        """The words of its name, in small letters and in the singular."""
        return list(_words(self.name[:_LONGEST_NAME]))

    @cached_property
    def written(self) -> str:
        """Its entry as JSON; its description alone where it cannot be written."""
        try:
            return json.dumps(self.raw, ensure_ascii=False, separators=(",", ":"))
        except (RecursionError, TypeError, ValueError):
            return self.description

    @property
    def tokens(self) -> int:
        """About how much of a model's context its entry takes."""
        return len(self.written) // _CHARS_PER_TOKEN

    def schemas_with_references(self) -> Iterator[tuple[str, object]]:
        """Its schemas by key, where a `$ref` may stand anywhere in it."""
        if '"$ref"' in self.written:
            for key in ("inputSchema", "outputSchema"):
                yield key, self.raw.get(key)

    @property
    def writes(self) -> bool:
        """Whether it may write by what it declares: all that is not said to be read-only."""
        return self.hints.read_only is not True

    @cached_property
    def all_text(self) -> str:
        """All of `texts` in one: to find out at once that none of them holds something."""
        return "\n".join(text for _, text in self.texts())

    @cached_property
    def lower_text(self) -> str:
        """The same in small letters."""
        return self.all_text.lower()

    def texts(self) -> Iterator[tuple[tuple[Step, ...], str]]:
        """All that a model reads of it, each with the way to it; of schemas the first 5,000."""
        yield ("name",), self.name
        yield ("title",), self.titles[0]
        yield ("annotations", "title"), self.titles[1]
        yield ("description",), self.description
        for key in ("inputSchema", "outputSchema"):
            yield from _texts_in(self.raw.get(key), (key,))


class Listing:
    """The tools of one server, and the names of those of the servers beside it."""

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
        """What is wrong with entries of the list that are no tools."""
        self.others: Mapping[str, str] = others or {}
        """Names of tools of other servers, each with its server's."""

    @cached_property
    def names(self) -> frozenset[str]:
        """The names of its tools."""
        return frozenset(tool.name for tool in self.tools)


@lru_cache(4096)
def _words(name: str) -> tuple[str, ...]:
    return tuple(word_list(name))


def as_object(value: object) -> JsonObject:
    """`value` where it is an object, else an empty one."""
    # The first is what JSON gives, and by far the faster question.
    if type(value) is dict or isinstance(value, Mapping):
        return cast("JsonObject", value)
    return {}


def as_text(value: object) -> str:
    """`value` where it is a text, else an empty one."""
    return value if isinstance(value, str) else ""


def as_list(value: object) -> list[object]:
    """`value` where it is a list, else an empty one."""
    return cast("list[object]", value) if isinstance(value, list) else []


def _texts_in(schema: object, at: tuple[Step, ...]) -> Iterator[tuple[tuple[Step, ...], str]]:
    """The texts of a schema in its own order: names of members, descriptions, choices."""
    todo = [(at, schema)]
    for _ in range(_MOST_TEXTS):
        if not todo:
            return
        place, part = todo.pop()
        if isinstance(part, str):
            yield place, part
        elif isinstance(part, dict):
            found = cast("dict[str, object]", part)
            if place[-1:] == ("properties",):
                yield from (((*place, name), name) for name in found)
            items = [((*place, key), inner) for key, inner in found.items() if key not in _FORMAL]
            todo += items[::-1]
        elif isinstance(part, list):
            inner = cast("list[object]", part)
            todo += [((*place, index), value) for index, value in enumerate(inner)][::-1]


def _kinds(schema: JsonObject) -> frozenset[str]:
    kind = schema.get("type")
    branches = _branches(schema)
    if isinstance(kind, str) and not branches:
        return frozenset((kind,)) - {"null"}
    found: set[str] = set()
    for branch in (schema, *branches):
        kind = branch.get("type")
        found.update(
            choice
            for choice in (kind, *as_list(kind))
            if isinstance(choice, str) and choice != "null"
        )
    return frozenset(found)


def _branches(schema: JsonObject) -> list[JsonObject]:
    if _BRANCHES.isdisjoint(schema):
        return []
    return [
        as_object(branch)
        for key in _BRANCHING
        for branch in as_list(schema.get(key))[:_MOST_PARAMETERS]
    ]


def _enumerated(schema: JsonObject) -> list[object]:
    return [
        value
        for branch in (schema, *_branches(schema))
        for value in ([branch["const"]] if "const" in branch else as_list(branch.get("enum")))
    ]
