"""The first protocol version of each field and content type, and translation for older clients.

A client of an older version gets the same content in types that it knows, since many refuse a
result with an unknown type. Sources: the changelogs of MCP 2025-03-26, 2025-06-18, 2025-11-25 and
2026-07-28.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final, cast

import msgspec

_MAX_EMPTY_BYTES: Final = 16
"""The largest size of JSON that may be an empty list with blanks."""

_STRUCTURED_SINCE: Final = "2025-06-18"
"""The first version with `structuredContent`. Older clients get it too, and ignore it."""

CONTENT_SINCE: Final[Mapping[str, str]] = {"audio": "2025-03-26", "resource_link": "2025-06-18"}
"""The first version of each content type; text, image and resource are in every version."""

FIELDS_SINCE: Final[Mapping[str, Mapping[str, str]]] = {
    "serverInfo": {
        "title": "2025-06-18",
        "description": "2025-11-25",
        "icons": "2025-11-25",
        "websiteUrl": "2025-11-25",
    },
    "tool": {
        "title": "2025-06-18",
        "outputSchema": "2025-06-18",
        "icons": "2025-11-25",
        "execution": "2025-11-25",
    },
    "entry": {"title": "2025-06-18", "icons": "2025-11-25"},
    "argument": {"title": "2025-06-18"},
}
"""The first version of each field, by kind; an `entry` is a prompt, a resource or a template."""

OLDEST_COMPLETE: Final = "2025-11-25"
"""The first version that needs no translation."""


def known_fields(kind: str, value: Mapping[str, Any], version: str) -> dict[str, Any]:
    """Return `value` with only the fields that `version` defines for this kind of object.

    >>> known_fields("serverInfo", {"name": "a", "title": "A"}, "2025-03-26")
    {'name': 'a'}
    """
    since = FIELDS_SINCE[kind]
    return {key: field for key, field in value.items() if since.get(key, "") <= version}


def translate(method: str, result: Mapping[str, Any], version: str) -> Mapping[str, Any]:
    """Return the result of `method` with only fields and types that `version` defines."""
    work = _TRANSLATIONS.get(method)
    if work is None or version >= OLDEST_COMPLETE:
        return result
    return work(result, version)


def _call(result: Mapping[str, Any], version: str) -> dict[str, Any]:
    translated = dict(result)
    blocks = translated.get("content")
    if isinstance(blocks, msgspec.Raw):
        blocks = msgspec.json.decode(blocks) if _may_be_new(blocks, version) else None
    if isinstance(blocks, list):
        translated["content"] = [_content(block, version) for block in cast("list[Any]", blocks)]
    is_unstructured = "structuredContent" in result and version < _STRUCTURED_SINCE
    if is_unstructured and not translated.get("content"):
        text = msgspec.json.encode(result["structuredContent"]).decode()
        translated["content"] = [{"type": "text", "text": text}]
    return translated


def _may_be_new(blocks: msgspec.Raw, version: str) -> bool:
    """Return whether raw blocks may contain a type that `version` does not define."""
    raw = bytes(blocks)
    newer = [kind.encode() for kind, since in CONTENT_SINCE.items() if since > version]
    # JSON may write the type with escapes.
    return b"\\u" in raw or len(raw) < _MAX_EMPTY_BYTES or any(kind in raw for kind in newer)


def _prompt(result: Mapping[str, Any], version: str) -> dict[str, Any]:
    messages = [
        {**message, "content": _content(message["content"], version)}
        if "content" in message
        else message
        for message in _objects(result.get("messages"))
    ]
    return {**result, "messages": messages}


def _entries(key: str, kind: str = "entry") -> Callable[[Mapping[str, Any], str], dict[str, Any]]:
    def translated(result: Mapping[str, Any], version: str) -> dict[str, Any]:
        if isinstance(result.get(key), msgspec.Raw):
            # A rendered list (raw JSON) is already in the form of this version.
            return {**result}
        entries = [_entry(entry, version, kind) for entry in _objects(result.get(key))]
        return {**result, key: entries}

    return translated


def _entry(entry: Mapping[str, Any], version: str, kind: str = "entry") -> dict[str, Any]:
    known = known_fields(kind, entry, version)
    if isinstance(known.get("arguments"), list):
        arguments = _objects(known["arguments"])
        known["arguments"] = [known_fields("argument", argument, version) for argument in arguments]
    return known


def _content(block: Any, version: str) -> Any:
    if not isinstance(block, dict):
        return block
    members = cast("dict[str, Any]", block)
    kind = members.get("type")
    if CONTENT_SINCE.get(str(kind), "") <= version:
        return members
    text = _link(members) if kind == "resource_link" else _audio(members)
    annotations = {"annotations": members["annotations"]} if "annotations" in members else {}
    return {"type": "text", "text": text, **annotations}


def _link(block: Mapping[str, Any]) -> str:
    name = block.get("title") or block.get("name")
    kind = block.get("mimeType")
    text = "Resource"
    if isinstance(name, str):
        text += f" “{name}”"
    if isinstance(kind, str):
        text += f" ({kind})"
    text += f": {block.get('uri', '')}"
    description = block.get("description")
    if isinstance(description, str) and description:
        text += f"\n{description}"
    return text


def _audio(block: Mapping[str, Any]) -> str:
    kind = block.get("mimeType")
    data = block.get("data")
    size = len(data) * 3 // 4 if isinstance(data, str) else 0
    return f"[audio, {kind if isinstance(kind, str) else 'unknown type'}, {size} bytes]"


def _objects(value: object) -> list[dict[str, Any]]:
    entries = cast("list[Any]", value) if isinstance(value, list) else []
    return [entry for entry in entries if isinstance(entry, dict)]


_TRANSLATIONS: Final[Mapping[str, Callable[[Mapping[str, Any], str], Mapping[str, Any]]]] = {
    "tools/call": _call,
    "tools/list": _entries("tools", "tool"),
    "prompts/get": _prompt,
    "prompts/list": _entries("prompts"),
    "resources/list": _entries("resources"),
    "resources/templates/list": _entries("resourceTemplates"),
}
"""The translation of each method; `intent.wire.list_tool` translates tools' annotations."""
