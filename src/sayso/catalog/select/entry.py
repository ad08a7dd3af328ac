"""One tool that may be selected, and its indexed texts."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice
from typing import Any, Final, NamedTuple

from sayso.catalog.convert import raw_of
from sayso.catalog.select.terms import fold, terms
from sayso.catalog.tool import Tool, fingerprint, make_tool, qualify
from sayso.errors import UsageError
from sayso.infer import KINDS, VERBS
from sayso.intent import Intent, Level, read_tool
from sayso.schema import object_of

_CLEAR: Final = frozenset(term for verb in VERBS for term in terms(verb))
"""Terms that are verbs in every name."""
_VERBS: Final = frozenset(term for verb in KINDS for term in terms(verb))
"""Terms that are verbs in some names, such as `mail`."""


_NAME: Final = 12
_TITLE: Final = 8
_ABOUT: Final = 4
_ARGUMENT: Final = 2
"""The weight of a word in each text; integers, so that sums do not depend on the order."""

_MAX_NAME: Final = 200
_MAX_TEXT: Final = 600
_MAX_ARGUMENT: Final = 200
_MAX_ARGUMENTS: Final = 40
_MAX_TAGS: Final = 20
"""Limits in characters and counts, so that a server's texts cannot make a selection expensive, and
no word's summed weight exceeds what the index can store."""


class Text(NamedTuple):
    """One text of a tool, with the name of its field and the weight of a word in it."""

    field: str
    text: str
    worth: int


@dataclass(frozen=True)
class Entry:
    """A tool that may be selected. `given` is its catalog `Tool`, or `None` if only `raw` is known.

    The hints of such a raw tool are inferred only when needed, because inferring is slow.
    """

    server: str
    name: str
    raw: Mapping[str, Any] = field(repr=False)
    intent: Intent = field(repr=False)
    fingerprint: str
    origin: str = ""
    given: Tool | None = field(default=None, repr=False)

    @property
    def key(self) -> str:
        """The unique key, which also breaks ties in the ranking."""
        return f"{self.server}\0{self.name}\0{self.origin}"

    @property
    def qualified_name(self) -> str:
        return qualify(self.server, self.name)

    def names(self) -> set[str]:
        return {self.name, self.qualified_name}

    @cached_property
    def tool(self) -> Tool:
        if self.given is not None:
            return self.given
        return make_tool(self.server, self.raw, origin=self.origin)

    @property
    def level(self) -> Level:
        return self.tool.level

    def is_same(self, other: "Entry") -> bool:
        if self.given is not None and self.given is other.given:
            return True
        mine = self.intent
        others = other.intent
        return (self.fingerprint, mine.title, mine.category, mine.tags, self.given) == (
            other.fingerprint,
            others.title,
            others.category,
            others.tags,
            other.given,
        )

    def texts(self) -> Iterator[Text]:
        yield Text("name", _cut(self.raw.get("name"), _MAX_NAME), _NAME)
        yield Text("title", _cut(self.intent.title, _MAX_NAME), _TITLE)
        yield Text("server", _cut(self.server, _MAX_NAME), _ABOUT)
        yield Text("category", _cut(self.intent.category, _MAX_NAME), _ABOUT)
        for tag in sorted(self.intent.tags)[:_MAX_TAGS]:
            yield Text("tag", _cut(tag, _MAX_NAME), _ABOUT)
        yield Text("description", _cut(self.raw.get("description"), _MAX_TEXT), _ABOUT)
        properties = object_of(object_of(self.raw.get("inputSchema")).get("properties"))
        for name, schema in islice(properties.items(), _MAX_ARGUMENTS):
            yield Text("argument", _cut(name, _MAX_NAME), _ARGUMENT)
            text = object_of(schema).get("description")
            yield Text("argument", _cut(text, _MAX_ARGUMENT), _ARGUMENT)

    def words(self) -> dict[str, int]:
        weights: dict[str, int] = {}
        for where, text, worth in self.texts():
            if not text:
                continue
            words = terms(text)
            if not words and where == "name":
                words = [fold(text)]  # a name of stop words, such as `me`
            for term in words:
                weights[term] = weights.get(term, 0) + worth
        return weights

    @cached_property
    def verbs(self) -> frozenset[str]:
        """The verbs in the name, or else its first word."""
        named = terms(self.name)
        return _CLEAR.intersection(named) or _VERBS.intersection(named) or frozenset(named[:1])

    @cached_property
    def objects(self) -> frozenset[str]:
        return frozenset(terms(self.name)) - self.verbs


def index_entry(given: object, *, server: str = "", category: str = "", origin: str = "") -> Entry:
    """Make the `Entry` for a catalog tool, a tool from `tools/list` or an SDK tool.

    `server` and `category` complete a raw tool; `origin` distinguishes tools of the same server
    and name. Raises `UsageError` for anything else.
    """
    if isinstance(given, Entry):
        return given
    if isinstance(given, Tool):
        marks = (given.fingerprint, given.origin, given)
        return Entry(given.server, given.name, given.raw, given.intent, *marks)
    raw = raw_of(given)
    name = raw.get("name")
    if not isinstance(name, str) or not name:
        raise UsageError("tool without a name", where=server or None)
    if not isinstance(raw.get("inputSchema", {}), Mapping):
        raise UsageError("inputSchema is not an object", where=f"tool {name!r}")
    has_intent = any(raw.get(key) is not None for key in ("title", "annotations", "_meta"))
    intent = read_tool(raw).intent if has_intent else Intent()
    if category and intent.category is None:
        intent = replace(intent, category=category)
    return Entry(server, name, raw, intent, fingerprint(raw), origin)


def _cut(value: object, most: int) -> str:
    return value[:most] if isinstance(value, str) else ""
