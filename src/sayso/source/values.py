"""What is known of a value without running anything, and of the place that it names."""

import ast
import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Final, Literal
from urllib.parse import urlsplit

from sayso.source.program import FunctionNode, Module

Trait = Literal["argument", "temporary", "own", "memory"]
Reach = Literal["open", "private", "loopback", "unknown"]

_ARGUMENT: Final[frozenset[Trait]] = frozenset({"argument"})
_NAME: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_LONGEST: Final = 200
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
    """The names of a function while it is looked at, and where it stands."""

    module: Module
    names: "dict[str, Value]"
    parent: "Scope | None" = None


@dataclass(frozen=True, eq=False, slots=True)
class Class:
    """A class of the files that are looked at."""

    module: Module
    node: ast.ClassDef
    scope: Scope


@dataclass(frozen=True, slots=True)
class Function:
    """A function of the files that are looked at; `holder` is what it is a method of."""

    module: Module = field(compare=False)
    node: FunctionNode | ast.Lambda
    scope: Scope = field(compare=False)
    holder: "Value | None" = field(default=None, compare=False)

    @property
    def name(self) -> str:
        """Its name, with that of its class."""
        own = "lambda"
        if not isinstance(self.node, ast.Lambda):
            own = self.node.name
        if self.holder and self.holder.instance:
            return f"{self.holder.instance.node.name}.{own}"
        return own


@dataclass(frozen=True, slots=True)
class Value:
    """What is known of a value; an empty one is unknown.

    `dotted`: it is what has this name outside (`os.remove`). `type`: it is made by that
    (`pathlib.Path`). `text`: it begins with this, and is no more where `is_whole`.
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
        """Whether anything is known of it that its kind can be told by."""
        return bool(self.dotted or self.type or self.function or self.instance or self.cls)

    @property
    def whole(self) -> str | None:
        """The text that it is, all of it."""
        return self.text if self.is_whole else None

    def has(self, *traits: Trait) -> bool:
        """Whether it has any of these traits."""
        return not self.traits.isdisjoint(traits)

    def with_traits(self, traits: Iterable[Trait]) -> "Value":
        """The same with traits more."""
        return replace(self, traits=self.traits | frozenset(traits))


UNKNOWN: Final = Value()
ARGUMENT: Final = Value(traits=_ARGUMENT)


def literal(text: str) -> Value:
    """A text that stands in the source; a path in it may be in a place of the program's own."""
    return Value(text=text, is_whole=True, traits=place_of(text))


def place_of(name: str) -> frozenset[Trait]:
    """What a name or a path says of its place: the program's own, or one that does not last."""
    if len(name) >= _LONGEST:
        return frozenset()
    words = {word.lower() for word in _NAME.findall(name)}
    found: set[Trait] = set()
    if not words.isdisjoint(_OWN):
        found.add("own")
    if not words.isdisjoint(_TEMPORARY):
        found.add("temporary")
    if name in (":memory:", "/dev/null", "devnull"):
        found.add("memory")
    return frozenset(found)


def joined(parts: Iterable[Value]) -> Value:
    """Texts or parts of a path put together.

    Where it is, the first says; whether a caller says it, the first that is not known.
    """
    found = list(parts)
    text = ""
    is_whole = True
    given = UNKNOWN
    for value in found:
        text += value.text or ""
        if value.whole is None:
            is_whole = False
            given = value
            break
    first = next(iter(found), UNKNOWN)
    traits = first.traits | (given.traits & _ARGUMENT)
    return Value(type=first.type, text=text or None, is_whole=is_whole, traits=traits)


def merged(values: Iterable[Value]) -> Value:
    """What holds of a value that may be any of these."""
    found = [value for value in values if value != UNKNOWN and value.type != "builtins.NoneType"]
    if not found:
        return UNKNOWN
    if all(value == found[0] for value in found):
        return found[0]
    told = [value for value in found if value.is_known] or found
    same = {
        name: getattr(told[0], name)
        for name in ("dotted", "type", "function", "instance", "cls")
        if all(getattr(value, name) == getattr(told[0], name) for value in told)
    }
    shared = found[0].traits
    given: frozenset[Trait] = frozenset()
    for value in found:
        shared &= value.traits
        given |= value.traits & _ARGUMENT
    if all(value.text == found[0].text for value in found):
        same["text"] = found[0].text
    whole = "text" in same and all(value.is_whole for value in found)
    return Value(**same, is_whole=whole, traits=shared | given)


def reach(url: Value) -> Reach:
    """How far a URL goes, as far as it is told."""
    untold: Reach = "open" if url.has("argument") else "unknown"
    if url.text is None:
        return untold
    text = url.text
    if "://" not in text:
        text = f"//{text}"
    try:
        host = urlsplit(text).hostname or ""
    except ValueError:
        return "unknown"
    is_cut = not url.is_whole and not re.match(r"\w+://[^/]+/", url.text)
    if not host or is_cut:
        return untold
    if _LOOPBACK.fullmatch(host):
        return "loopback"
    if _PRIVATE.fullmatch(host):
        return "private"
    return "open"
