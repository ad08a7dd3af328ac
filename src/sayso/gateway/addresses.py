"""Addresses of resources at `/mcp`, where several servers may list the same URI.

A URI or template that only one server lists is shown unchanged. If several servers list it, it is
shown once for each server, as `sayso:NAME/URI`. The plain URI is then refused, because the order of
servers must not decide which resource is read. The qualified form works for every resource.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast
from urllib.parse import quote, unquote

import msgspec

from sayso.connect import INVALID_PARAMS, RpcError
from sayso.gateway.normal_uri import normal_uri

SCHEME: Final = "sayso:"
_MAX_FORMS: Final = 10
"""The most qualified forms that an error names."""

Entries = Sequence[tuple[str, Iterable[Any]]]
"""The names of servers, each with the entries of one of its lists."""


@dataclass(frozen=True, slots=True)
class Address:
    """A resource of one server: its `uri` there, and the `prefix` that clients put before it."""

    server: str
    uri: str
    prefix: str = ""


@dataclass(frozen=True, slots=True)
class Addresses:
    """An index of the resources and templates that one caller's servers list.

    `listers`: the servers that list each URI, by its normal form, which some clients send.
    `templates`: servers and their templates, by the template's literal start. `lengths`: the
    lengths of these starts. `shared`: templates that may match another server's resources.
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
            names = listers.setdefault(normal_uri(uri), [])
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
        """Return the URI that clients use for a resource of this server."""
        if len(self.listers.get(normal_uri(uri), ())) > 1 or _is_reserved(uri):
            return qualified(server, uri)
        return uri

    def show_template(self, server: str, template: str) -> str:
        if (server, template) in self.shared or _is_reserved(template):
            return qualified(server, template)
        return template

    def show_link(self, server: str, uri: str) -> str:
        """Return the URI that clients use for a link in this server's result."""
        if self._candidates(uri) not in ([], [server]) or _is_reserved(uri):
            return qualified(server, uri)
        return uri

    def find(self, uri: str) -> Address | None:
        """Return the address of this resource (or template), or `None`.

        Raises `RpcError`, which lists the qualified forms, if several servers have the resource.
        """
        if _is_reserved(uri):
            name, slash, own = uri[len(SCHEME) :].partition("/")
            server = unquote(name)
            if not slash or not own or server not in self.servers:
                return None
            return Address(server, own, uri[: -len(own)])
        names = self._candidates(uri)
        if len(names) > 1:
            forms = ", ".join(qualified(name, uri) for name in names[:_MAX_FORMS])
            raise RpcError(INVALID_PARAMS, f"several servers have {uri}; use one of: {forms}")
        if not names:
            return None
        return Address(names[0], uri)

    def _candidates(self, uri: str) -> list[str]:
        if listed := self.listers.get(normal_uri(uri)):
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
    """Return the form of a URI or template that names its server.

    >>> qualified("notes", "memo://1")
    'sayso:notes/memo://1'
    """
    return f"{SCHEME}{quote(server, safe='')}/{uri}"


def readdress(result: Mapping[str, Any], show: Callable[[str], str]) -> dict[str, Any]:
    """Return a result of a tool or prompt with `show` applied to its links and resources."""
    changed = dict(result)
    blocks = changed.get("content")
    if isinstance(blocks, msgspec.Raw) and may_link(changed):
        blocks = msgspec.json.decode(blocks)
    if isinstance(blocks, list):
        changed["content"] = _readdressed(blocks, show)
    messages = changed.get("messages")
    if isinstance(messages, list):
        changed["messages"] = [_message(each, show) for each in cast("list[Any]", messages)]
    return changed


def may_link(result: Mapping[str, Any]) -> bool:
    """Return whether a result may contain a link to a resource, without parsing the result."""
    blocks = result.get("content")
    if isinstance(blocks, msgspec.Raw):
        raw = bytes(blocks)
        # JSON may write the type with escapes.
        return b'"resource' in raw or b"\\u" in raw
    return isinstance(blocks, list) or "messages" in result


def _message(message: Any, show: Callable[[str], str]) -> Any:
    if not isinstance(message, dict) or "content" not in message:
        return cast("Any", message)
    members = cast("dict[str, Any]", message)
    return {**members, "content": _readdressed(members["content"], show)}


def _readdressed(block: Any, show: Callable[[str], str]) -> Any:
    if isinstance(block, list):
        return [_readdressed(part, show) for part in cast("list[Any]", block)]
    if not isinstance(block, dict):
        return block
    members = cast("dict[str, Any]", block)
    if members.get("type") == "resource_link":
        return with_uri(members, show)
    if members.get("type") == "resource" and isinstance(members.get("resource"), dict):
        return {**members, "resource": with_uri(members["resource"], show)}
    return members


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
    """Return whether a URI has the scheme `sayso:`, which servers must not use."""
    return uri[: len(SCHEME)].lower() == SCHEME or normal_uri(uri).startswith(SCHEME)


def _start(template: str) -> str:
    """Return the literal text that every URI of a template begins with, in lower case.

    Clients that parse URIs write schemes and hosts in lower case, so `Notes://{id}` and another
    server's `notes://{id}` count as shared. So do paths that differ only in case.
    """
    return template.partition("{")[0].lower()


def _has_scheme(template: str) -> bool:
    """Return whether a template has a literal scheme; `{+any}` would match every URI."""
    return ":" in _start(template)


def _fits(template: str, uri: str) -> bool:
    """Return whether `uri` has the literal parts of an RFC 6570 template, in their order.

    The check takes one pass, so that a server cannot slow sayso down with a costly template.
    """
    first, *rest = re.split(r"\{[^{}]*\}", template)
    if not uri.startswith(first):
        return False
    place = len(first)
    for literal in rest[:-1]:
        start = uri.find(literal, place)
        if start < 0:
            return False
        place = start + len(literal)
    return not rest or (uri.endswith(rest[-1]) and len(uri) - len(rest[-1]) >= place)


@dataclass(slots=True)
class _Branch:
    """A template's literal start, with the servers that have shorter (`above`) or longer starts."""

    start: str
    server: str
    template: str
    above: frozenset[str]
    below: set[str]


def _shared(
    uris: Iterable[tuple[str, str]], templates: Iterable[tuple[str, str]]
) -> frozenset[tuple[str, str]]:
    """Return the templates whose literal start another server's URI or template shares.

    One pass over the sorted starts is enough: each start comes after its prefixes. A template
    without a scheme always counts as shared.
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
