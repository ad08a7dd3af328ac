"""Values known from static analysis, and the places that they name."""

import ast
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Literal
from urllib.parse import urlsplit

from sayso.source.program import FunctionNode, Module

Trait = Literal["argument", "temporary", "own", "memory"]
Reach = Literal["open", "private", "loopback", "unknown"]

_ARGUMENT: Final[frozenset[Trait]] = frozenset({"argument"})
_NAME: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_MAX_NAME: Final = 200
_OWN: Final = frozenset(
    """
    cache caches cached log logs logfile logging lock lockfile pidfile
    """.split()
)
_TEMPORARY: Final = frozenset(["tmp", "temp", "scratch"])
_LOOPBACK: Final = re.compile(r"localhost|127\.[\d.]+|\[?::1\]?|0\.0\.0\.0")
_PRIVATE: Final = re.compile(
    r"10\.[\d.]+|192\.168\.[\d.]+|172\.(?:1[6-9]|2\d|3[01])\.[\d.]+"
    r"|[^.]+|.*\.(?:local|internal|lan|test|localhost|svc)"
)


@dataclass(eq=False, slots=True)
class Scope:
    """The names in a function during analysis, with the enclosing scope."""

    module: Module
    names: "dict[str, Value]"
    parent: "Scope | None" = None


@dataclass(frozen=True, eq=False, slots=True)
class Class:
    """A class in the analyzed files."""

    module: Module
    node: ast.ClassDef
    scope: Scope


@dataclass(frozen=True, slots=True)
class Function:
    """A function in the analyzed files; `holder` is the object of a method."""

    module: Module = field(compare=False)
    node: FunctionNode | ast.Lambda
    scope: Scope = field(compare=False)
    holder: "Value | None" = field(default=None, compare=False)

    @property
    def name(self) -> str:
        own = "lambda"
        if not isinstance(self.node, ast.Lambda):
            own = self.node.name
        if self.holder and self.holder.instance:
            return f"{self.holder.instance.node.name}.{own}"
        return own


@dataclass(frozen=True, slots=True)
class Value:
    """Everything known about a value; an empty one is unknown.

    `dotted`: the value has this external name (`os.remove`). `type`: the external name of what made
    the value (`pathlib.Path`). `text`: the value's text if `is_whole`, else only its beginning.
    """

    dotted: str = ""
    type: str = ""
    text: str | None = None
    is_whole: bool = False
    traits: frozenset[Trait] = frozenset()
    function: Function | None = None
    instance: Class | None = None
    cls: Class | None = None
    items: "tuple[Value, ...] | None" = None
    table: "tuple[tuple[str, Value], ...] | None" = None

    @property
    def is_known(self) -> bool:
        """True if the kind of the value is known."""
        return bool(self.dotted or self.type or self.function or self.instance or self.cls)

    @property
    def whole(self) -> str | None:
        return self.text if self.is_whole else None

    def has(self, *traits: Trait) -> bool:
        return not self.traits.isdisjoint(traits)

    def with_traits(self, traits: Iterable[Trait]) -> "Value":
        return replace(self, traits=self.traits | frozenset(traits))


UNKNOWN: Final = Value()
ARGUMENT: Final = Value(traits=_ARGUMENT)


def literal(text: str) -> Value:
    """Return the value of a string literal, with traits if it is a path of the program's own."""
    return Value(text=text, is_whole=True, traits=place_of(text))


def place_of(name: str) -> frozenset[Trait]:
    """Return traits of a name or a path: the program's own, temporary, or in memory."""
    if len(name) >= _MAX_NAME:
        return frozenset()
    words = {word.lower() for word in _NAME.findall(name)}
    traits: set[Trait] = set()
    if not words.isdisjoint(_OWN):
        traits.add("own")
    if not words.isdisjoint(_TEMPORARY):
        traits.add("temporary")
    if name in (":memory:", "/dev/null", "devnull"):
        traits.add("memory")
    return frozenset(traits)


def joined(parts: Iterable[Value]) -> Value:
    """Concatenate texts or parts of a path.

    The traits are those of the first part. `argument` is added if the first unknown part has it.
    """
    parts_list = list(parts)
    text = ""
    is_whole = True
    unknown_part = UNKNOWN
    for value in parts_list:
        text += value.text or ""
        if value.whole is None:
            is_whole = False
            unknown_part = value
            break
    first = next(iter(parts_list), UNKNOWN)
    traits = first.traits | (unknown_part.traits & _ARGUMENT)
    return Value(type=first.type, text=text or None, is_whole=is_whole, traits=traits)


def merged(values: Iterable[Value]) -> Value:
    """Return what is common to all alternatives of a value."""
    alternatives = [
        value for value in values if value != UNKNOWN and value.type != "builtins.NoneType"
    ]
    if not alternatives:
        return UNKNOWN
    if all(value == alternatives[0] for value in alternatives):
        return alternatives[0]
    known = [value for value in alternatives if value.is_known] or alternatives
    same = {
        name: getattr(known[0], name)
        for name in ("dotted", "type", "function", "instance", "cls")
        if all(getattr(value, name) == getattr(known[0], name) for value in known)
    }
    shared = alternatives[0].traits
    argument_traits: frozenset[Trait] = frozenset()
    for value in alternatives:
        shared &= value.traits
        argument_traits |= value.traits & _ARGUMENT
    if all(value.text == alternatives[0].text for value in alternatives):
        same["text"] = alternatives[0].text
    whole = "text" in same and all(value.is_whole for value in alternatives)
    return Value(**same, is_whole=whole, traits=shared | argument_traits)


def either(values: Sequence[Value | None]) -> Value:
    """Return the value of a name after branches. If a branch lacks the name, the text is lost."""
    known = [value for value in values if value is not None]
    if all(value == known[0] for value in known):
        return known[0]
    common = merged(known)
    return replace(common, text=None, is_whole=False) if UNKNOWN in known else common


def contains(many: Value, text: str) -> bool | None:
    """Return whether a collection contains a text, or `None` if that is unknown."""
    if many.items is not None:
        texts = [item.whole for item in many.items]
        if None in texts and text not in texts:
            return None
        return text in texts
    if many.table is not None and text in dict(many.table):
        return True
    return None


def reach(url: Value) -> Reach:
    """Return how far a URL reaches: a public, a private or this machine's address, or unknown."""
    default: Reach = "open" if url.has("argument") else "unknown"
    if url.text is None:
        return default
    text = url.text
    if "://" not in text:
        text = f"//{text}"
    try:
        host = urlsplit(text).hostname or ""
    except ValueError:
        return "unknown"
    is_cut = not url.is_whole and not re.match(r"\w+://[^/]+/", url.text)
    if not host or is_cut:
        return default
    if _LOOPBACK.fullmatch(host):
        return "loopback"
    if _PRIVATE.fullmatch(host):
        return "private"
    return "open"
