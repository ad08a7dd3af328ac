"""The wire form of tools in `tools/list`: reading raw JSON and writing it back.

Only real booleans count as hints: coercing `"true"` or `1` would turn a mistake into a promise.
Writing keeps every unknown key.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from reprlib import repr as show_short
from typing import Any, Final, cast

from sayso.intent.findings import Finding, contradictions
from sayso.intent.hints import HINT_NAMES, WIRE_NAMES, Hints
from sayso.intent.presets import Intent, Span
from sayso.intent.resolution import ResolvedIntent

META_KEY: Final = "io.sayso/intent"
"""The `_meta` key of a tool with sayso's own fields."""

_ANNOTATIONS_SINCE: Final = "2025-03-26"
_TITLE_SINCE: Final = "2025-06-18"
_SHOWN: Final = 40

JsonObject = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Declaration:
    """The declared intent of one tool of `tools/list`, with findings about its form."""

    intent: Intent
    findings: tuple[Finding, ...]


def read_tool(tool: JsonObject) -> Declaration:
    """Read the declaration of a raw tool of `tools/list`; never raises for an invalid one.

    Sources and levels in `_meta` are ignored, since a server cannot decide these.
    """
    annotations, found = _annotations_of(tool)
    hints, more = _hints_of(annotations)
    meta = _own_meta(tool)
    intent = Intent(
        hints=hints,
        title=_first_text(tool.get("title"), annotations.get("title")),
        category=_first_text(meta.get("category")),
        tags=_texts(meta.get("tags")),
        scopes=_texts(meta.get("scopes")),
        roles=_texts(meta.get("roles")),
        confirm=_first_text(meta.get("confirm")),
        grant=_span(meta.get("grant")),
    )
    return Declaration(intent, (*found, *more, *contradictions(intent)))


def write_annotations(hints: Hints, title: str | None) -> dict[str, Any]:
    """Return annotations with all four hints (the default for an unset one) and the title."""
    complete = hints.with_defaults()
    wire: dict[str, Any] = {WIRE_NAMES[name]: complete[name] for name in HINT_NAMES}
    return {"title": title, **wire} if title else wire


def write_meta(intent: Intent) -> dict[str, Any]:
    """Return the fields for `_meta`: what is declared beyond the hints, without empty values."""
    fields: dict[str, Any] = {
        "category": intent.category,
        "confirm": intent.confirm,
        "grant": intent.grant and str(intent.grant),
        "roles": sorted(intent.roles),
        "scopes": sorted(intent.scopes),
        "tags": sorted(intent.tags),
    }
    return {key: value for key, value in fields.items() if value}


def declare(tool: JsonObject, intent: Intent, *, version: str = "2026-07-28") -> dict[str, Any]:
    """Return `tool` with an author's intent, in the form of protocol `version`."""
    return _with_intent(tool, intent.hints, intent.title, write_meta(intent), version)


def list_tool(
    tool: JsonObject, resolved: ResolvedIntent, *, version: str, title: str | None
) -> dict[str, Any]:
    """Return `tool` with resolved hints in `annotations`, and the declared ones in `_meta`.

    Unknown keys in annotations and `_meta` are kept.
    """
    own = _own_meta(tool)
    meta = {key: own[key] for key in ("category", "tags") if key in own}
    meta["level"] = str(resolved.level)
    meta["hints"] = resolved.to_dict()
    meta["declared"] = tool.get("annotations")
    if meta["declared"] is None:
        meta["declared"] = {}
    return _with_intent(tool, resolved.hints, title, meta, version)


def _with_intent(
    tool: JsonObject, hints: Hints, title: str | None, meta: JsonObject, version: str
) -> dict[str, Any]:
    wire = dict(tool)
    if version >= _ANNOTATIONS_SINCE:
        before = _object(tool.get("annotations"))
        wire["annotations"] = {**before, **write_annotations(hints, title)}
    else:
        wire.pop("annotations", None)
    # Older protocol versions have no title. If the tool has one, it must match the annotations'.
    if title and (version >= _TITLE_SINCE or "title" in tool):
        wire["title"] = title
    if meta_before := _object(tool.get("_meta")):
        wire["_meta"] = {key: meta_before[key] for key in meta_before if key != META_KEY}
    if meta:
        wire["_meta"] = {**_object(wire.get("_meta")), META_KEY: meta}
    return wire


def _annotations_of(tool: JsonObject) -> tuple[JsonObject, list[Finding]]:
    raw: Any = tool.get("annotations")
    if raw is None or isinstance(raw, Mapping):
        return _object(tool.get("annotations")), []
    message = f"annotations must be an object, not {_show(raw)}; all hints count as unset"
    return {}, [Finding("annotations-not-an-object", message)]


def _hints_of(annotations: JsonObject) -> tuple[Hints, list[Finding]]:
    values: dict[str, bool | None] = {}
    found: list[Finding] = []
    for name, wire in WIRE_NAMES.items():
        raw = annotations.get(wire)
        values[name] = raw if isinstance(raw, bool) else None
        if wire in annotations and not isinstance(raw, bool):
            message = f"{wire} must be true or false, not {_show(raw)}; it counts as unset"
            found.append(Finding("hint-not-a-boolean", message, name))
    return Hints(**values), found


def _own_meta(tool: JsonObject) -> JsonObject:
    return _object(_object(tool.get("_meta")).get(META_KEY))


def _object(value: object) -> JsonObject:
    return cast("JsonObject", value) if isinstance(value, Mapping) else {}


def _first_text(*values: object) -> str | None:
    return next((value for value in values if isinstance(value, str) and value.strip()), None)


def _span(value: object) -> Span | None:
    return next((span for span in Span if span == value), None)


def _texts(value: object) -> frozenset[str]:
    if not isinstance(value, Iterable) or isinstance(value, str | bytes):
        return frozenset()
    return frozenset(item for item in cast("Iterable[object]", value) if isinstance(item, str))


def _show(value: object) -> str:
    if value is None:
        return "null"
    # `reprlib` limits the depth; a plain `repr` of deep nesting raises RecursionError.
    text = f'"{value}"' if isinstance(value, str) else show_short(value)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"
