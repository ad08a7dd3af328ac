"""The wire form: a tool as it stands in `tools/list`, read from raw JSON and written back to it.

Reading takes only real booleans for hints: an SDK that coerces `"true"` or `1` would turn a
mistake into a promise. Writing keeps every key it does not know.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from reprlib import repr as show_short
from typing import Any, Final, cast

from sayso.intent.findings import Finding, contradictions
from sayso.intent.hints import HINT_NAMES, HintName, Hints
from sayso.intent.presets import Intent
from sayso.intent.resolution import ResolvedIntent
from sayso.intent.span import Span

META_KEY: Final = "io.sayso/intent"
"""The one `_meta` key of a tool that holds what is sayso's own."""

WIRE_NAMES: Final[Mapping[HintName, str]] = {
    "read_only": "readOnlyHint",
    "destructive": "destructiveHint",
    "idempotent": "idempotentHint",
    "open_world": "openWorldHint",
}

_ANNOTATIONS_SINCE: Final = "2025-03-26"
_TITLE_SINCE: Final = "2025-06-18"
_SHOWN: Final = 40

JsonObject = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Declaration:
    """What one tool of `tools/list` declares, and what is wrong with how it says it."""

    intent: Intent
    findings: tuple[Finding, ...]


def read_tool(tool: JsonObject) -> Declaration:
    """Read what a raw tool of `tools/list` declares; never raises for a tool with a mistake.

    What `_meta` claims about sources and levels is not read: that is not the server's to say.
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
    """Annotations with all four hints explicit, defaults where unset, and the title."""
    complete = hints.with_defaults()
    wire: dict[str, Any] = {WIRE_NAMES[name]: complete[name] for name in HINT_NAMES}
    return {"title": title, **wire} if title else wire


def write_meta(intent: Intent) -> dict[str, Any]:
    """What an author declared beyond the hints, for `_meta`; sorted, without what is empty."""
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
    """`tool` with an author's intent written into it, as `version` of the protocol has it."""
    meta = write_meta(intent)
    return _with_intent(tool, write_annotations(intent.hints, intent.title), intent, meta, version)


def list_tool(
    tool: JsonObject, resolved: ResolvedIntent, *, version: str, title: str | None
) -> dict[str, Any]:
    """`tool` with its resolved hints in `annotations`, and what the server declared in `_meta`.

    Unknown annotation keys and unknown `_meta` keys stay where they were.
    """
    declared = tool.get("annotations")
    meta = {
        "level": str(resolved.level),
        "hints": resolved.to_dict(),
        "declared": declared if declared is not None else {},
    }
    own = _own_meta(tool)
    kept = {key: own[key] for key in ("category", "tags") if key in own}
    intent = Intent(title=title)
    annotations = write_annotations(resolved.hints, title)
    return _with_intent(tool, annotations, intent, kept | meta, version)


def _with_intent(
    tool: JsonObject, annotations: JsonObject, intent: Intent, meta: JsonObject, version: str
) -> dict[str, Any]:
    wire = dict(tool)
    before, _ = _annotations_of(tool)
    if version >= _ANNOTATIONS_SINCE:
        wire["annotations"] = {**before, **annotations}
    else:
        wire.pop("annotations", None)
    # Older versions have no such field; one that stands there all the same must not say otherwise.
    if intent.title and (version >= _TITLE_SINCE or "title" in tool):
        wire["title"] = intent.title
    if before_meta := _meta_of(tool):
        wire["_meta"] = {key: one for key, one in before_meta.items() if key != META_KEY}
    if meta:
        wire["_meta"] = {**_meta_of(wire), META_KEY: dict(meta)}
    return wire


def _annotations_of(tool: JsonObject) -> tuple[JsonObject, list[Finding]]:
    raw = tool.get("annotations")
    if raw is None:
        return {}, []
    if isinstance(raw, Mapping):
        return cast("JsonObject", raw), []
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
    own = _meta_of(tool).get(META_KEY)
    return cast("JsonObject", own) if isinstance(own, Mapping) else {}


def _meta_of(tool: JsonObject) -> JsonObject:
    meta = tool.get("_meta")
    return cast("JsonObject", meta) if isinstance(meta, Mapping) else {}


def _first_text(*values: object) -> str | None:
    return next((value for value in values if isinstance(value, str) and value.strip()), None)


def _span(value: object) -> Span | None:
    """What is none of the words says nothing."""
    return Span(value) if isinstance(value, str) and value in tuple(Span) else None


def _texts(value: object) -> frozenset[str]:
    if not isinstance(value, Iterable) or isinstance(value, str | bytes):
        return frozenset()
    return frozenset(one for one in cast("Iterable[object]", value) if isinstance(one, str))


def _show(value: object) -> str:
    # Short in depth as well: the plain `repr` of deep nesting ends in a RecursionError.
    text = f'"{value}"' if isinstance(value, str) else show_short(value)
    text = "null" if value is None else text
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"
