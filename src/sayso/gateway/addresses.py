"""Addresses of resources at `/mcp`, where several servers may list the same URI.

A URI that one server lists is shown unchanged. A URI that several servers list is shown once for
each of them, as `sayso:NAME/URI`, and the plain URI is refused: the order of servers must not
decide which one is read. The qualified form is accepted for every resource. Templates likewise.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast
from urllib.parse import quote, unquote

import msgspec
from pydantic_core import Url

from sayso.connect import INVALID_PARAMS, RpcError

SCHEME: Final = "sayso:"
_MOST_NAMED: Final = 10
"""Qualified forms that an error names."""

Entries = Sequence[tuple[str, Iterable[Any]]]
"""The names of servers, each with the entries of one of its lists."""


@dataclass(frozen=True, slots=True)
class Address:
    """A resource of one server: `uri` is the server's own, `prefix` what a client puts before."""

    server: str
    uri: str
    prefix: str = ""


@dataclass(frozen=True, slots=True)
class Addresses:
    """The resources and templates that one caller's servers list.

    `listers` are the servers of each URI, by its normal form, since some clients send that.
    `templates` are servers and their templates, by what a template begins with, and `lengths` how
    long these beginnings are. `shared` are those that may stand for another server's resources.
    """

    servers: frozenset[str]
    listers: Mapping[str, Sequence[str]]
    templates: Mapping[str, Sequence[tuple[str, str]]]
    lengths: Sequence[int]
    shared: frozenset[tuple[str, str]]

    @classmethod
    def of(cls, resources: Entries, templates: Entries) -> "Addresses":
        uris = [*_values(resources, "uri")]
        listers: dict[str, list[str]] = {}
        for server, uri in uris:
            names = listers.setdefault(normal(uri), [])
            if server not in names:
                names.append(server)
        patterns = [*_values(templates, "uriTemplate")]
        starts: dict[str, list[tuple[str, str]]] = {}
        for server, template in patterns:
            starts.setdefault(_start(template), []).append((server, template))
        servers = frozenset(server for server, _ in resources)
        lengths = sorted({len(start) for start in starts})
        return cls(servers, listers, starts, lengths, _shared(uris, patterns))

    def show(self, server: str, uri: str) -> str:
        """Return the URI by which clients read a resource that this server lists."""
        if len(self.listers.get(normal(uri), ())) > 1 or _is_reserved(uri):
            return qualified(server, uri)
        return uri

    def show_template(self, server: str, template: str) -> str:
        if (server, template) in self.shared or _is_reserved(template):
            return qualified(server, template)
        return template

    def show_link(self, server: str, uri: str) -> str:
        """Return the URI of a link in a result of this server, so that it leads to this server."""
        if self._candidates(uri) not in ([], [server]) or _is_reserved(uri):
            return qualified(server, uri)
        return uri

    def find(self, uri: str) -> Address | None:
        """Return whose resource (or template) this is, or None if no server has it.

        Raises `RpcError` naming the qualified forms if several servers have it.
        """
        if _is_reserved(uri):
            name, slash, own = uri[len(SCHEME) :].partition("/")
            server = unquote(name)
            if not slash or not own or server not in self.servers:
                return None
            return Address(server, own, uri[: -len(own)])
        names = self._candidates(uri)
        if len(names) > 1:
            forms = ", ".join(qualified(name, uri) for name in names[:_MOST_NAMED])
            raise RpcError(INVALID_PARAMS, f"several servers have {uri}; use one of: {forms}")
        if not names:
            return None
        return Address(names[0], uri)

    def _candidates(self, uri: str) -> list[str]:
        """Return the servers that list this URI, or else those with a template that fits it."""
        if listed := self.listers.get(normal(uri)):
            return [*listed]
        low = uri.lower()
        starts = (low[:length] for length in self.lengths if length <= len(low))
        fitting = (
            server
            for start in starts
            for server, template in self.templates.get(start, ())
            if template == uri or (_has_scheme(template) and _fits(template.lower(), low))
        )
        return [*dict.fromkeys(fitting)]


def qualified(server: str, uri: str) -> str:
    """Return the form of a URI or template that says whose it is.

    >>> qualified("notes", "memo://1")
    'sayso:notes/memo://1'
    """
    return f"{SCHEME}{quote(server, safe='')}/{uri}"


def normal(uri: str) -> str:
    """Return a URI as clients write it that parse URIs (the WHATWG URL standard).

    Two that differ only in this are one: a client that was shown either may send the other.
    """
    try:
        return str(Url(uri))
    except ValueError:
        return uri


def readdress(result: Mapping[str, Any], show: Callable[[str], str]) -> dict[str, Any]:
    """Return a result of a tool or prompt with `show` applied to its links and resources."""
    told = dict(result)
    blocks = told.get("content")
    if isinstance(blocks, msgspec.Raw) and may_link(told):
        blocks = msgspec.json.decode(blocks)
    if isinstance(blocks, list):
        told["content"] = [_readdressed(block, show) for block in cast("list[Any]", blocks)]
    if isinstance(told.get("messages"), list):
        told["messages"] = [
            _message(message, show) for message in cast("list[Any]", told["messages"])
        ]
    return told


def may_link(result: Mapping[str, Any]) -> bool:
    """Return whether a result may hold a link to a resource, without reading it."""
    blocks = result.get("content")
    if isinstance(blocks, msgspec.Raw):
        raw = bytes(blocks)
        # A type may be written with escapes.
        return b'"resource' in raw or b"\\u" in raw
    return isinstance(blocks, list) or "messages" in result


def _message(message: Any, show: Callable[[str], str]) -> Any:
    if not isinstance(message, dict) or "content" not in message:
        return cast("Any", message)
    told = cast("dict[str, Any]", message)
    return {**told, "content": _readdressed(told["content"], show)}


def _readdressed(block: Any, show: Callable[[str], str]) -> Any:
    if isinstance(block, list):
        return [_readdressed(part, show) for part in cast("list[Any]", block)]
    if not isinstance(block, dict):
        return block
    told = cast("dict[str, Any]", block)
    if told.get("type") == "resource_link":
        return with_uri(told, show)
    if told.get("type") == "resource" and isinstance(told.get("resource"), dict):
        return {**told, "resource": with_uri(told["resource"], show)}
    return told


def with_uri(value: Mapping[str, Any], show: Callable[[str], str]) -> dict[str, Any]:
    """Return an object with `show` applied to its `uri`, if it has one."""
    uri = value.get("uri")
    if not isinstance(uri, str):
        return {**value}
    return {**value, "uri": show(uri)}


def _values(lists: Entries, key: str) -> Iterable[tuple[str, str]]:
    for server, entries in lists:
        for entry in entries:
            if isinstance(entry, dict):
                value = cast("dict[str, Any]", entry).get(key)
                if isinstance(value, str):
                    yield server, value


def _is_reserved(uri: str) -> bool:
    """Return whether a URI has the scheme of qualified forms; no server's own passes for one."""
    return uri[: len(SCHEME)].lower() == SCHEME or normal(uri).startswith(SCHEME)


def _start(template: str) -> str:
    """Return the literal text that every URI of a template begins with, in small letters.

    Clients that parse URIs write schemes and hosts so, and `Notes://{id}` must not lead to whoever
    has `notes://{id}`. A path that differs in nothing else is taken for shared, too.
    """
    return template.partition("{")[0].lower()


def _has_scheme(template: str) -> bool:
    """Return whether a template says of which scheme it is; `{+any}` would fit all there is."""
    return ":" in _start(template)


def _fits(template: str, uri: str) -> bool:
    """Return whether `uri` could come from an RFC 6570 template: its literal parts, in their order.

    In one pass, since a template is a server's to choose and must not make sayso think for long.
    """
    first, *rest = re.split(r"\{[^{}]*\}", template)
    if not uri.startswith(first):
        return False
    place = len(first)
    for literal in rest[:-1]:
        found = uri.find(literal, place)
        if found < 0:
            return False
        place = found + len(literal)
    return not rest or (uri.endswith(rest[-1]) and len(uri) - len(rest[-1]) >= place)


@dataclass(slots=True)
class _Branch:
    """A template's literal start, and the servers at it and above it, and below it."""

    start: str
    server: str
    template: str
    above: frozenset[str]
    below: set[str]


def _shared(
    uris: Iterable[tuple[str, str]], templates: Iterable[tuple[str, str]]
) -> frozenset[tuple[str, str]]:
    """Return the templates whose literal start another server's URI or template shares.

    One pass over all in order, where each stands after the starts that it begins with. A template
    without a scheme is always among them: in the plain form it stands for nothing.
    """
    shared = {(server, template) for server, template in templates if not _has_scheme(template)}
    starts = [
        (_start(template), server, template)
        for server, template in templates
        if _has_scheme(template)
    ]
    if not starts:
        return frozenset(shared)
    stack: list[_Branch] = []

    def leave() -> None:
        branch = stack.pop()
        if len(branch.above | branch.below) > 1:
            shared.add((branch.server, branch.template))
        if stack:
            stack[-1].below |= branch.below

    for start, server, template in sorted(
        [*starts, *((uri.lower(), server, "") for server, uri in uris)]
    ):
        while stack and not start.startswith(stack[-1].start):
            leave()
        if template:
            above = stack[-1].above if stack else frozenset[str]()
            stack.append(_Branch(start, server, template, above | {server}, {server}))
        elif stack:
            stack[-1].below.add(server)
    while stack:
        leave()
    return frozenset(shared)
