"""Changes of a tool since its accepted definition, in words.

A definition is what the fingerprint covers, plus who may call the tool. A change that loosens
waits for a person (`hold`). Until a person accepts it, the stricter of the two definitions counts.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from sayso.catalog.tool import FINGERPRINTED, Tool, make_tool
from sayso.intent import (
    HINT_NAMES,
    LOOSER,
    META_KEY,
    WIRE_NAMES,
    Evidence,
    Finding,
    HintName,
    ResolvedIntent,
    Trust,
    resolve,
    shortest,
    stricter,
)
from sayso.schema import canonical, digest, object_of

_CALLERS: Final = ("grant", "roles", "scopes")
_SCHEMAS: Final = {"inputSchema": "input", "outputSchema": "output"}
_SHOWN: Final = 300

Resolve = Callable[[Evidence], ResolvedIntent]


@dataclass(frozen=True, slots=True)
class Change:
    """One change in words; `is_looser` if the tool now permits more.

    `hint` names the changed hint, for callers with their own wording.
    """

    what: str
    is_looser: bool = False
    hint: HintName | None = None


def definition_of(tool: Tool) -> dict[str, Any]:
    """Return the raw definition of a tool, from which `restore_tool` makes it again."""
    raw = tool.raw
    definition = {key: raw[key] for key in FINGERPRINTED if key in raw}
    callers = object_of(object_of(raw.get("_meta")).get(META_KEY))
    if kept := {key: callers[key] for key in _CALLERS if key in callers}:
        definition["_meta"] = {META_KEY: kept}
    return definition


def mark_of(tool: Tool) -> str:
    """Return the digest of the definition. It is the fingerprint if no limits on callers exist."""
    definition = definition_of(tool)
    if "_meta" in definition:
        return digest(definition)
    return tool.fingerprint


def restore_tool(server: str, definition: Mapping[str, Any]) -> Tool:
    """Return the tool of this definition."""
    return make_tool(server, definition)


def loosens(known: Tool, now: Tool, under: Resolve | None = None) -> bool:
    """Return whether the tool `now` permits more than the tool `known`, or admits more callers.

    `under` resolves hints as the current policy does. Hints are also resolved as for a trusted and
    a cautious server, because a later policy may trust the server more.
    """
    resolvers = [_resolve_under(trust) for trust in (Trust.TRUSTED, Trust.CAUTIOUS)]
    if under is not None:
        resolvers.append(under)
    return any(_permits_more(known, now, resolver) for resolver in resolvers) or any(
        change.is_looser for change in _callers(known, now)
    )


def hold(tool: Tool, known: Tool) -> Tool:
    """Return `tool` restricted by the accepted version `known`: each stricter part counts."""
    old = known.intent
    new = tool.intent
    looser = "; ".join(change.what for change in changes(known, tool) if change.is_looser)
    why = looser or "the new version would permit more under this policy"
    what = f"the server changed the tool, and no person has accepted the change yet ({why})"
    return replace(
        tool,
        before=known,
        intent=replace(
            new,
            scopes=old.scopes | new.scopes,
            roles=old.roles or new.roles,
            grant=shortest(old.grant, new.grant),
        ),
        resolved=stricter(known.resolved, tool.resolved),
        findings=(*tool.findings, Finding("change-not-accepted", what)),
    )


def changes(known: Tool, now: Tool) -> list[Change]:
    """Return the changes in words, looser ones first."""
    all_changes = [
        *_hints(known, now),
        *_callers(known, now),
        *_texts(known, now),
        *_schemas(known, now),
    ]
    return sorted(all_changes, key=lambda change: not change.is_looser)


def _resolve_under(trust: Trust) -> Resolve:
    return lambda evidence: resolve(evidence, trust)


def _permits_more(known: Tool, now: Tool, resolver: Resolve) -> bool:
    old = resolver(known.evidence)
    new = resolver(now.evidence)
    return any(
        new[name].value is LOOSER[name] and old[name].value is not LOOSER[name]
        for name in HINT_NAMES
    )


def _hints(known: Tool, now: Tool) -> Iterator[Change]:
    for name in HINT_NAMES:
        before = known.resolved[name].value
        after = now.resolved[name].value
        declared_before = known.intent.hints[name]
        declared_now = now.intent.hints[name]
        if before is not after:
            source = now.resolved[name].source
            what = f"{WIRE_NAMES[name]}: counted as {_word(before)}, would count as {_word(after)}"
            yield Change(f"{what} ({source})", after is LOOSER[name], name)
        elif declared_before is not declared_now:
            is_looser = declared_now is LOOSER[name]
            what = f"{WIRE_NAMES[name]}: was {_word(declared_before)}, is {_word(declared_now)}"
            yield Change(what, is_looser, name)


def _callers(known: Tool, now: Tool) -> Iterator[Change]:
    """Yield changes of who may call. A caller needs all scopes, but only one of the roles."""
    old = known.intent
    new = now.intent
    for scope in sorted(old.scopes - new.scopes):
        yield Change(f"scope {scope} is no longer required", is_looser=True)
    for scope in sorted(new.scopes - old.scopes):
        yield Change(f"scope {scope} is now required")
    if old.roles != new.roles:
        more = new.roles - old.roles if new.roles else old.roles
        is_looser = bool(old.roles) and bool(more)
        yield Change(f"roles: were {_listed(old.roles)}, are {_listed(new.roles)}", is_looser)
    if old.grant is not new.grant:
        before, after = (intent.grant or "any time" for intent in (old, new))
        is_looser = old.grant is not None and shortest(old.grant, new.grant) is old.grant
        yield Change(f"an answer may stand for: was {before}, is {after}", is_looser)


def _texts(known: Tool, now: Tool) -> Iterator[Change]:
    for key in ("title", "description"):
        before = known.raw.get(key)
        after = now.raw.get(key)
        if before != after:
            yield Change(f"the {key} was {_quoted(before)}, is {_quoted(after)}")


def _schemas(known: Tool, now: Tool) -> Iterator[Change]:
    for key, word in _SCHEMAS.items():
        before = known.raw.get(key)
        after = now.raw.get(key)
        if before == after:
            continue
        old = object_of(object_of(before).get("properties"))
        new = object_of(object_of(after).get("properties"))
        names = [*_named(old, new, word)]
        yield from (Change(text) for text in names or [f"the {word} schema has changed"])


def _named(old: Mapping[str, Any], new: Mapping[str, Any], word: str) -> Iterator[str]:
    for name in sorted({*old, *new}):
        if name not in old:
            yield f"the {word} has a new property {_quoted(name)}"
        elif name not in new:
            yield f"the {word} no longer has the property {_quoted(name)}"
        elif old[name] != new[name]:
            yield f"the {word} property {_quoted(name)} has changed"


def _word(value: bool | None) -> str:  # noqa: FBT001 - a hint's value is what it is about
    return "not declared" if value is None else str(value).lower()


def _listed(names: frozenset[str]) -> str:
    return ", ".join(sorted(names)) or "none"


def _quoted(value: object) -> str:
    if value is None:
        return "not there"
    text = value if isinstance(value, str) else canonical(value).decode()
    if len(text) > _SHOWN:
        text = f"{text[: _SHOWN - 1]}…"
    return f"“{text}”"
