"""One tool that may be selected: as it was given, and what is looked at of it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice
from typing import Any, Final, NamedTuple, cast

from sayso.catalog.convert import raw_of
from sayso.catalog.select.terms import fold, terms
from sayso.catalog.tool import Tool, fingerprint, make_tool, qualify
from sayso.errors import UsageError
from sayso.infer import KINDS, VERBS
from sayso.intent import Intent, Level, read_tool

_CLEAR: Final = frozenset(term for verb in VERBS for term in terms(verb))
_VERBS: Final = frozenset(term for verb in KINDS for term in terms(verb))
"""What is a verb in every name, and what may be one, as `mail` and `file` may."""


_NAME: Final = 12
_TITLE: Final = 8
_ABOUT: Final = 4
_ARGUMENT: Final = 2
_ARGUMENT_TEXT: Final = 2
"""What a word is worth in each text. Whole numbers, so that sums are the same in any order."""

_LONGEST_NAME: Final = 200
_LONGEST_TEXT: Final = 600
_LONGEST_ARGUMENT: Final = 200
_MOST_ARGUMENTS: Final = 40
_MOST_TAGS: Final = 20
"""Texts are a server's: none may make a selection cost much. What a tool is for stands at the
beginning of its description. Nor may a word be worth more than the index holds."""


class Text(NamedTuple):
    """One text of a tool: which it is, in words, and what a word in it counts."""

    field: str
    text: str
    worth: int


@dataclass(frozen=True)
class Entry:
    """A tool among those that may be selected; `given` is `None` where it came raw.

    What a raw one's text suggests of its hints is worked out when it is needed: that takes longer
    than all else.
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
        """What tells it from all others, and orders those that fit as well."""
        return f"{self.server}\0{self.name}\0{self.origin}"

    @property
    def qualified_name(self) -> str:
        """Its name among the tools of many servers; the plain one where no server is known."""
        return qualify(self.server, self.name)

    def names(self) -> set[str]:
        """What it may be called by."""
        return {self.name, self.qualified_name}

    @cached_property
    def tool(self) -> Tool:
        """The tool, with its level."""
        if self.given is not None:
            return self.given
        return make_tool(self.server, self.raw, origin=self.origin)

    @property
    def level(self) -> Level:
        """How much it may change."""
        return self.tool.level

    def is_same(self, other: "Entry") -> bool:
        """Whether nothing that counts here has changed."""
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
        """The texts that count, cut to what is looked at."""
        yield Text("name", _cut(self.raw.get("name"), _LONGEST_NAME), _NAME)
        yield Text("title", _cut(self.intent.title, _LONGEST_NAME), _TITLE)
        yield Text("server", _cut(self.server, _LONGEST_NAME), _ABOUT)
        yield Text("category", _cut(self.intent.category, _LONGEST_NAME), _ABOUT)
        for tag in sorted(self.intent.tags)[:_MOST_TAGS]:
            yield Text("tag", _cut(tag, _LONGEST_NAME), _ABOUT)
        yield Text("description", _cut(self.raw.get("description"), _LONGEST_TEXT), _ABOUT)
        properties = _object(_object(self.raw.get("inputSchema")).get("properties"))
        for name, schema in islice(properties.items(), _MOST_ARGUMENTS):
            yield Text("argument", _cut(name, _LONGEST_NAME), _ARGUMENT)
            said = _object(schema).get("description")
            yield Text("argument", _cut(said, _LONGEST_ARGUMENT), _ARGUMENT_TEXT)

    def words(self) -> dict[str, int]:
        """Its terms, each with what it is worth."""
        found: dict[str, int] = {}
        for where, text, worth in self.texts():
            if not text:
                continue
            said = terms(text)
            if not said and where == "name":
                said = [fold(text)]  # made of words that say nothing elsewhere, as `me` is
            for term in said:
                found[term] = found.get(term, 0) + worth
        return found

    @cached_property
    def verbs(self) -> frozenset[str]:
        """What it does, by its name: the verbs in it, or else its first word."""
        named = terms(self.name)
        return _CLEAR.intersection(named) or _VERBS.intersection(named) or frozenset(named[:1])

    @cached_property
    def objects(self) -> frozenset[str]:
        """What it does that to, by its name."""
        return frozenset(terms(self.name)) - self.verbs


def index_entry(given: object, *, server: str = "", category: str = "", origin: str = "") -> Entry:
    """What was given as a tool: sayso's own, an entry of `tools/list`, or the SDK's.

    A raw one does not say which `server` it is of, and may lack a `category`; `origin` tells apart
    those of one server and one name. Raises `UsageError` for what is no tool.
    """
    if isinstance(given, Entry):
        return given
    if isinstance(given, Tool):
        marks = (given.fingerprint, given.origin, given)
        return Entry(given.server, given.name, given.raw, given.intent, *marks)
    raw = raw_of(given)
    name = raw.get("name")
    if not isinstance(name, str) or not name:
        raise UsageError("a tool without a name", where=server or None)
    if not isinstance(raw.get("inputSchema", {}), Mapping):
        raise UsageError("its inputSchema is not an object", where=f"tool {name!r}")
    said = any(raw.get(key) is not None for key in ("title", "annotations", "_meta"))
    intent = read_tool(raw).intent if said else Intent()
    if category and intent.category is None:
        intent = replace(intent, category=category)
    return Entry(server, name, raw, intent, fingerprint(raw), origin)


def _cut(value: object, most: int) -> str:
    return value[:most] if isinstance(value, str) else ""


def _object(value: object) -> Mapping[Any, Any]:
    return cast("Mapping[Any, Any]", value) if isinstance(value, Mapping) else {}
