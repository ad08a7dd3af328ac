"""Values from earlier results (ids, paths, names), captured as arguments of later calls.

A value is found by its key and by the object that contains it. For example, `customers[].id` is the
id of a customer; it can be the argument `customer_id`, or `id` of `get_customer`.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from sayso.catalog import word_list
from sayso.verify.inputs.flattener import is_list, is_table, items_of, table_of
from sayso.verify.inputs.roles import NAMED, PATHS, Meaning, Role, entities_of, entity_of, is_maker

_MOST_OF_ONE: Final = 20
_MOST: Final = 2000
_LONGEST: Final = 400
_DEEPEST: Final = 8
_LARGEST: Final = 200_000
_MOST_LINES: Final = 200
_LONGEST_LINE: Final = 1000
"""The rest of a longer line is ignored, because the patterns take quadratic time."""

_IDS: Final = frozenset(["id", "identifier", "uid", "uuid", "iid", "guid", "sha", "hash", "slug"])
_NAMES: Final = frozenset(["name", "title", "label"])
_PATHS: Final = frozenset(["path", "file", "filepath", "directory", "folder", "dir"])
_URLS: Final = frozenset(["url", "uri", "href", "link"])

_PAIR: Final = re.compile(
    r"^[\s*\-•]*(?P<key>[A-Za-z][\w \-]{0,30}?)\s*[:=]\s*(?P<value>\S.{0,200}?)\s*$"
)
_FILE_LINE: Final = re.compile(r"^\[(?P<kind>FILE|DIR)\]\s+(?P<name>.+?)\s*$")
_UUID: Final = re.compile(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b", re.IGNORECASE)
_SHA: Final = re.compile(r"\b[0-9a-f]{40}\b")
_PATH: Final = re.compile(r"(?<![\w:/.<])/(?:[\w.+@~-]+/)*[\w.+@~-]+")
_URL: Final = re.compile(r"https?://[^\s<>\"')\]]+")
_ITEM: Final = re.compile(r"(?:[*•-]|\d+[.)])?\s*[`'\"]?(?P<name>[A-Za-z_][\w.-]{0,60})[`'\"]?")
"""A line with one name, perhaps of a list, or one part of a line of names."""
_NUMBERED: Final = re.compile(r"(?P<what>[A-Za-z]{1,40})?\s?#(?P<number>\d{1,12})\b")


@dataclass(frozen=True, slots=True)
class CapturedValue:
    """A value in a tool's result. `entity` is the kind of object that contains the value."""

    value: Any
    key: str
    entity: str
    tool: str


@dataclass(slots=True)
class CapturedValues:
    """The values in all results of a run, newest first."""

    found: list[CapturedValue] = field(default_factory=list[CapturedValue])
    _counts: dict[tuple[str, str], int] = field(default_factory=dict[tuple[str, str], int])
    _used: dict[tuple[str, str], set[str]] = field(default_factory=dict[tuple[str, str], set[str]])

    def copy(self) -> "CapturedValues":
        """Return a copy, to which values can be added without changing this."""
        used = {key: set(texts) for key, texts in self._used.items()}
        return CapturedValues(list(self.found), dict(self._counts), used)

    def add(self, tool: str, result: Mapping[str, Any]) -> None:
        """Capture a tool's result: structured content, JSON in its text, or lines of text."""
        entity = entity_of(word_list(tool))
        fresh = list(_walk(result.get("structuredContent"), "", entity, tool))
        for block in items_of(result.get("content")):
            text = table_of(block).get("text")
            if isinstance(text, str):
                fresh += _from_text(text[:_LARGEST], entity, tool)
        for value in reversed(fresh):
            self._keep(value)

    def values(self, wanted: Role | Meaning | str, tool: str = "") -> tuple[Any, ...]:
        """Return values for a role, or for a parameter `wanted` of `tool`, the likeliest first."""
        words: list[str] = []
        if isinstance(wanted, Meaning):
            meaning = wanted
        elif isinstance(wanted, Role):
            meaning = Meaning(wanted)
        else:
            words = word_list(wanted)
            meaning = Meaning(_role_of_key(wanted), entity_of(words))
        entity = meaning.entity or entity_of(word_list(tool))
        ranked = [
            (rank, index, found.value)
            for index, found in enumerate(self.found)
            if (rank := _rank(found, words, meaning.role, entity)) is not None
        ]
        ranked.sort(key=lambda found: found[:2])
        by_text = {json.dumps(value, sort_keys=True, default=str): value for *_, value in ranked}
        return tuple(by_text.values())

    def use(self, tool: str, arguments: Mapping[str, Any]) -> None:
        """Remember the arguments of a successful call for parameters of the same name.

        The arguments of a tool that makes or changes something describe what is there now, so they
        are captured too: a name under which `save` saved is one that `open` can open.
        """
        for name, value in arguments.items():
            if isinstance(value, str) and value:
                self._used.setdefault((_fold(name), value), set()).add(tool)
        if is_maker({"name": tool}):
            # Of `set_project_root(name)`, the name may be a project's.
            for entity in entities_of(word_list(tool)):
                for value in reversed(list(_walk(dict(arguments), "", entity, tool))):
                    self._keep(value)

    def used(self, name: str) -> tuple[str, ...]:
        """Return the values that succeeded for parameters of this name, the most used first."""
        found = [(len(by), value) for (key, value), by in self._used.items() if key == _fold(name)]
        return tuple(value for _, value in sorted(found, key=lambda ranked: -ranked[0]))

    def made(self, name: str) -> tuple[str, ...]:
        """Return the values of `used` that succeeded for a tool that makes or changes things."""
        return tuple(
            value
            for value in self.used(name)
            if any(is_maker({"name": tool}) for tool in self._used[_fold(name), value])
        )

    def _keep(self, found: CapturedValue) -> None:
        place = (found.entity, found.key)
        if found in self.found:
            self.found.remove(found)
        elif self._counts.get(place, 0) >= _MOST_OF_ONE or len(self.found) >= _MOST:
            self._drop(place)
        else:
            self._counts[place] = self._counts.get(place, 0) + 1
        self.found.insert(0, found)

    def _drop(self, place: tuple[str, str]) -> None:
        same = [
            index for index, found in enumerate(self.found) if (found.entity, found.key) == place
        ]
        del self.found[max(same, default=-1)]


def _rank(found: CapturedValue, words: list[str], role: Role | None, entity: str) -> int | None:
    key = word_list(found.key)
    if words and key == words and (len(key) > 1 or found.entity == entity or not entity):
        return 0
    kind = _role_of_key(found.key)
    if role is Role.ID:
        return _rank_as_id(found, key, kind, entity)
    if role is Role.NAME:
        is_named = kind is Role.NAME and (not entity or found.entity == entity)
        return 1 if is_named else None
    if role in PATHS:
        if kind is not Role.FILE or not str(found.value).startswith("/"):
            return None
        is_kind = (found.key == "directory") == (role in (Role.DIRECTORY, Role.REPOSITORY))
        return 1 if is_kind else 3
    is_ref = role is Role.REF and key[-1:] in (["sha"], ["commit"], ["hash"])
    is_named = role in NAMED and found.entity == role and (not key or kind is Role.NAME)
    if is_ref or is_named or (role is Role.URL and kind is Role.URL):
        return 1
    return _rank_by_words(found, key, words, role)


def _rank_by_words(
    found: CapturedValue, key: list[str], words: list[str], role: Role | None
) -> int | None:
    if role is not None:
        return 3 if key[-1:] == [str(role)] else _same(key, words)
    is_named = _role_of_key(found.key) in (Role.ID, Role.NAME)
    is_named = is_named and entity_of(key) in ("", found.entity)
    # The name of a project may be the value of a parameter `project`.
    return 2 if is_named and words[-1:] == [found.entity] else _same(key, words)


def _same(key: list[str], words: list[str]) -> int | None:
    if words and key == words:
        return 4
    # `status_name` in a result is a value of a parameter `status`.
    return 5 if words and key == [*words, "name"] else None


def _rank_as_id(found: CapturedValue, key: list[str], kind: Role | None, entity: str) -> int | None:
    is_id = kind is Role.ID or (not key and isinstance(found.value, str | int))
    if is_id and entity and (entity_of(key) or found.entity) == entity:
        return 1
    if kind is Role.NAME and entity and found.entity == entity:
        return 2
    return None


def _role_of_key(key: str) -> Role | None:
    kinds = {Role.ID: _IDS, Role.NAME: _NAMES, Role.FILE: _PATHS, Role.URL: _URLS}
    last = word_list(key)[-1:]
    return next((role for role, known in kinds.items() if known.issuperset(last) and last), None)


def _walk(value: Any, key: str, entity: str, tool: str, depth: int = 0) -> Iterator[CapturedValue]:
    if depth > _DEEPEST:
        return
    if is_table(value):
        for name, inner in value.items():
            holder = entity
            if isinstance(inner, dict | list) and name not in ("result", "data", "items"):
                holder = entity_of(word_list(name)) or entity
            yield from _walk(inner, name, holder, tool, depth + 1)
    elif is_list(value):
        # The items of a list have the key of the list.
        for item in value[:_MOST_OF_ONE]:
            yield from _walk(item, key, entity, tool, depth + 1)
    elif isinstance(value, str):
        if 0 < len(value) <= _LONGEST:
            yield CapturedValue(value, key, entity, tool)
    elif value is not None and not isinstance(value, bool):
        yield CapturedValue(value, key, entity, tool)


def _from_text(text: str, entity: str, tool: str) -> list[CapturedValue]:
    stripped = text.strip()
    if stripped[:1] in ("{", "["):
        try:
            return list(_walk(json.loads(stripped), "", entity, tool))
        except (ValueError, RecursionError):
            pass
    found: list[CapturedValue] = []
    for line in stripped.splitlines()[:_MOST_LINES]:
        found += _from_line(line[:_LONGEST_LINE], entity, tool)
    return found


def _from_line(line: str, entity: str, tool: str) -> Iterator[CapturedValue]:
    if match := _FILE_LINE.match(line):
        keys = {"FILE": "file", "DIR": "directory"}
        yield CapturedValue(match["name"], keys[match["kind"]], entity, tool)
        return
    if match := _PAIR.match(line):
        named = entity_of(word_list(match["key"])) or entity
        yield CapturedValue(_plain(match["value"]), match["key"], named, tool)
    names = [_ITEM.fullmatch(part.strip()) for part in line.split(",")]
    if all(names):
        for name in names[:_MOST_OF_ONE]:
            yield CapturedValue(name["name"] if name else "", "", entity, tool)
    for pattern, key in ((_UUID, "id"), (_SHA, "sha"), (_URL, "url"), (_PATH, "path")):
        for match in pattern.finditer(line):
            yield CapturedValue(match[0].rstrip("."), key, entity, tool)
    for match in _NUMBERED.finditer(line):
        what = entity_of(word_list(match["what"] or "")) or entity
        yield CapturedValue(int(match["number"]), "id", what, tool)


def _plain(text: str) -> Any:
    if re.fullmatch(r"-?\d{1,15}", text):
        return int(text)
    return text.strip("\"'`")


def _fold(name: str) -> str:
    return re.sub(r"[\W_]", "", name).casefold()
