"""One tool that may be selected: as it was given, and what is looked at of it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Final

from sayso.catalog.convert import raw_of
from sayso.catalog.select.terms import terms
from sayso.catalog.select.texts import Text, texts_of, weigh_texts
from sayso.catalog.tool import Tool, fingerprint, make_tool, qualify
from sayso.errors import UsageError
from sayso.infer import KINDS, VERBS
from sayso.intent import Intent, Level, read_tool

_CLEAR: Final = frozenset(term for verb in VERBS for term in terms(verb))
_VERBS: Final = frozenset(term for verb in KINDS for term in terms(verb))
"""What is a verb in every name, and what may be one, as `mail` and `file` may."""


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
        return qualify(self.server, self.name) if self.server else self.name

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
        return (
            (self.fingerprint, mine.title, mine.category, mine.tags)
            == (other.fingerprint, others.title, others.category, others.tags)
            and (self.given is None) == (other.given is None)
            and (self.given is None or self.given == other.given)
        )

    def texts(self) -> Iterator[Text]:
        """What is looked at of it."""
        return texts_of(
            self.raw,
            server=self.server,
            title=self.intent.title or "",
            category=self.intent.category or "",
            tags=sorted(self.intent.tags),
        )

    def words(self) -> dict[str, int]:
        """Its terms, each with what it is worth."""
        return weigh_texts(self.texts())

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
