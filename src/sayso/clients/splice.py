"""Edits of one object in a JSON text. All other bytes stay, and each edit is verified."""

import json
import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

from sayso.clients.document import Document
from sayso.errors import ConfigError
from sayso.settings import Member, members, offset_of, parse_json

_Edit = tuple[int, int, str]
"""Start, end and replacement."""

_BLANK: Final = " \t"
_UNIT: Final = "  "
_LAST_COMMA: Final = re.compile(r"(?:\s++|//[^\n]*+|/\*.*?\*/)*+,", re.DOTALL)
"""Skips comments, in linear time."""


def raw_members(document: Document, steps: tuple[str, ...]) -> dict[str, str]:
    """Return the text of each member of the object at `steps`, by key."""
    return {
        str(member.step): document.text[member.key_at : member.end]
        for member in members(document.file.text, steps)
    }


def take_out(
    document: Document,
    steps: tuple[str, ...],
    *,
    taken: Collection[str],
    name: str,
    entry: Mapping[str, Any],
) -> Document:
    """Return `document` without the members `taken`; `name` takes the place of the first one."""
    found = members(document.file.text, steps)
    first, *others = (at for at, member in enumerate(found) if member.step in taken)
    written = _written(document.text, found[first], len(steps) + 1, {name: entry})
    edits = [(found[first].key_at, found[first].end, written)]
    for at in others:
        edits += _cut(document, found, at)
    kept = {key: server for key, server in document.servers(steps).items() if key not in taken}
    return _edited(document, steps, edits, {**kept, name: entry})


def put_back(
    document: Document, steps: tuple[str, ...], *, name: str | None, raw: Sequence[str]
) -> Document:
    """Return `document` with the member texts `raw` in place of `name`. Raises `ConfigError`."""
    try:
        opening = offset_of(document.file.text, steps)
    except KeyError:
        what = f"the object “{steps[-1]}” is missing"
        fix = f'Add "{steps[-1]}": {{}} to the file, and try again.'
        raise ConfigError(what, where=document.path, fix=fix) from None
    found = members(document.file.text, steps)
    at = next((index for index, member in enumerate(found) if member.step == name), None)
    kept = {key: server for key, server in document.servers(steps).items() if key != name}
    back = {
        key: server for text in raw for key, server in parse_json("", f"{{{text}}}").value.items()
    }
    if at is not None and not raw:
        edits = _cut(document, found, at)
    else:
        edits = [_filled(document.text, found, opening, at, raw)]
    return _edited(document, steps, edits, {**kept, **back})


def _filled(
    text: str, found: Sequence[Member], opening: int, at: int | None, raw: Sequence[str]
) -> _Edit:
    """Return the edit that inserts members in place of the member at `at`, or at the end."""
    if not found:
        return opening + 1, opening + 1, ", ".join(raw)
    near = found[-1]
    if at is not None:
        near = found[at]
    between = f",{_line_start(text, near.key_at) or ' '}"
    joined = between.join(raw)
    if at is not None:
        return near.key_at, near.end, joined
    return near.end, near.end, "".join(f"{between}{text}" for text in raw)


def _cut(document: Document, found: Sequence[Member], at: int) -> list[_Edit]:
    """Return the edits that delete the member at `at` and its comma, but keep comments."""
    text = document.text
    member = found[at]
    if at == 0:
        if len(found) == 1:
            edits = [(member.key_at, member.end, "")]
            if after := _LAST_COMMA.match(text, member.end):
                edits.append((after.end() - 1, after.end(), ""))
            return edits
        comma = document.file.text.index(",", member.end)
        return [(member.key_at, member.end, ""), (comma, comma + 1, "")]
    comma = document.file.text.index(",", found[at - 1].end)
    if not text[comma + 1 : member.key_at].strip():
        return [(comma, member.end, "")]
    line = _line_start(text, member.key_at)
    rest = text[member.end :].lstrip(_BLANK)
    # Delete a whole line if it has no other text, but keep its end: a comment may precede it.
    start = member.key_at
    if line is not None and rest.startswith(("\n", "\r\n")):
        start -= len(line)
    return [(comma, comma + 1, ""), (start, member.end, "")]


def _written(text: str, near: Member, depth: int, member: Mapping[str, Any]) -> str:
    line = _line_start(text, near.key_at)
    if line is None:
        return json.dumps(member)[1:-1]
    indent = line.lstrip("\r\n")
    unit = _UNIT
    if len(indent) % depth == 0:
        unit = indent[: len(indent) // depth]
    key, value = next(iter(member.items()))
    return f"{json.dumps(key)}: {json.dumps(value, indent=unit)}".replace("\n", line)


def _line_start(text: str, at: int) -> str | None:
    """Return the line break and the blanks before `at`, or `None` if other text precedes `at`."""
    before = text[:at]
    line = before.rstrip(_BLANK)
    for end in ("\r\n", "\n"):
        if line.endswith(end):
            return before[len(line) - len(end) :]
    return None


def _edited(
    document: Document, steps: tuple[str, ...], edits: list[_Edit], meant: Mapping[str, Any]
) -> Document:
    """Return the document after `edits`. Raises `ConfigError` if it differs from `meant`."""
    text = document.text
    for start, end, new in sorted(edits, reverse=True):
        text = text[:start] + new + text[end:]
    try:
        result = document.with_text(text)
    except ConfigError as error:
        raise _unfit(document) from error
    if result.servers(steps) != meant or _others(result, steps) != _others(document, steps):
        raise _unfit(document)
    return result


def _others(document: Document, steps: tuple[str, ...]) -> object:
    def without(value: Any, rest: tuple[str, ...]) -> Any:
        if not rest:
            return None
        return {**value, rest[0]: without(value[rest[0]], rest[1:])}

    return without(document.file.value, steps)


def _unfit(document: Document) -> ConfigError:
    what = "sayso cannot edit this file without changing other parts"
    fix = "Nothing was changed. Remove trailing commas and unusual comments."
    return ConfigError(what, where=document.path, fix=fix)
